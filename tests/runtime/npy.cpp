#include "runtime/io/npy.h"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "frontend/source/diagnostic.h"
#include "tests/runtime/temporary.h"

namespace {

using lay::DiagnosticError;
using lay::runtime::NpyArray;
using lay::runtime::NpyType;
using lay::runtime::read_npy;
using lay::runtime::write_npy;
using lay::test::put;
using lay::test::slurp;
using lay::test::TemporaryFolder;

// A file of version 1 with this dictionary, byte for byte.
std::string version_1(const std::string& dictionary, const std::string& data) {
  const auto length = static_cast<unsigned>(dictionary.size());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 0xff) +
         static_cast<char>(length >> 8) + dictionary + data;
}

std::string complaint(const std::string& path) {
  try {
    read_npy(path);
  } catch (const DiagnosticError& e) {
    return e.diagnostic.message;
  }
  return "";
}

std::vector<std::byte> bytes(const std::string& text) {
  std::vector<std::byte> result;
  for (const char c : text) result.push_back(static_cast<std::byte>(c));
  return result;
}

const std::string four_floats("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16);  // 1 2 3 4

}  // namespace

TEST_CASE("what is written reads back") {
  TemporaryFolder folder;
  std::mt19937 random(7);
  for (const NpyType type : {NpyType{'b', 1},
                             {'i', 1},
                             {'i', 2},
                             {'i', 4},
                             {'i', 8},
                             {'u', 1},
                             {'u', 2},
                             {'u', 4},
                             {'u', 8},
                             {'f', 2},
                             {'f', 4},
                             {'f', 8},
                             {'V', 1},
                             {'V', 2}})
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{},
                                                   {0},
                                                   {1},
                                                   {5},
                                                   {3, 4},
                                                   {2, 0, 3},
                                                   {2, 3, 4, 5},
                                                   std::vector<std::int64_t>(64, 1)})
      for (const bool fortran : {false, true}) {
        NpyArray array{type, shape, fortran, {}};
        std::size_t count = 1;
        for (const auto extent : shape) count *= static_cast<std::size_t>(extent);
        array.data.resize(count * static_cast<std::size_t>(type.size));
        for (auto& b : array.data) b = static_cast<std::byte>(random());
        write_npy(folder / "x.npy", array);
        const NpyArray back = read_npy(folder / "x.npy");
        CHECK(back.type == type);
        CHECK(back.shape == shape);
        CHECK(back.fortran_order == fortran);
        CHECK(back.data == array.data);
      }
}

TEST_CASE("the written header is NumPy's") {
  TemporaryFolder folder;
  write_npy(folder / "x.npy", {{'f', 4}, {2, 2}, false, bytes(four_floats)});
  const std::string text = slurp(folder / "x.npy");
  CHECK(text.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(text.substr(10, 58) == "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), ");
  CHECK(text.size() == 128 + 16);
  CHECK(text[127] == '\n');
  CHECK(text.substr(128) == four_floats);
}

TEST_CASE("big-endian elements, other versions and other spellings of the header are read") {
  TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  std::string swapped = four_floats;
  for (std::size_t i = 0; i < 16; i += 4)
    std::reverse(swapped.begin() + static_cast<long>(i),
                 swapped.begin() + static_cast<long>(i) + 4);
  put(path, version_1("{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }\n", swapped));
  CHECK(read_npy(path).data == bytes(four_floats));
  put(path,
      version_1("{\"shape\":(2L, 2L),\"fortran_order\":True,\"descr\":\"<f4\"}", four_floats));
  CHECK(read_npy(path).shape == std::vector<std::int64_t>{2, 2});
  CHECK(read_npy(path).fortran_order);
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}";
  for (const char version : {'\x02', '\x03'}) {
    put(path, std::string("\x93NUMPY") + version + '\0' + static_cast<char>(dictionary.size()) +
                  std::string(3, '\0') + dictionary + four_floats);
    CHECK(read_npy(path).data == bytes(four_floats));
  }
}

TEST_CASE("a file cut off at any byte is refused") {
  TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  const std::string whole =
      version_1("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", four_floats);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    put(path, whole.substr(0, length));
    INFO(length);
    CHECK(complaint(path) != "");
  }
  put(path, whole + "x");
  CHECK(complaint(path).find("takes 16 bytes, but holds 17") != std::string::npos);
}

TEST_CASE("a header with any one byte changed is read as an array of that many bytes or refused") {
  TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  const std::string whole =
      version_1("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n", four_floats);
  for (std::size_t at = 0; at < whole.size() - 16; ++at)
    for (const char value :
         {'\0', '\1', '(', ')', '}', '\'', ',', '9', '-', '\x7f', '\x80', '\xff'}) {
      std::string changed = whole;
      changed[at] = value;
      put(path, changed);
      std::size_t held = 16;
      std::string code = "npy";
      try {
        held = read_npy(path).data.size();
      } catch (const DiagnosticError& e) {
        code = e.diagnostic.code;
      }
      CHECK(held == 16);
      CHECK(code == "npy");
    }
}

TEST_CASE("a header that promises more than the file holds allocates nothing") {
  TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  for (const std::string shape :
       {"(9223372036854775807,)", "(4294967296, 4294967296, 4294967296)", "(1000000000000,)"}) {
    put(path,
        version_1("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + "}", four_floats));
    CHECK(complaint(path).find("but holds 16") != std::string::npos);
  }
  for (const std::string shape : {"(9223372036854775808,)", "(-1,)", "(2.0,)", "4", "(4", "None"}) {
    put(path,
        version_1("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}", four_floats));
    INFO(shape);
    CHECK(complaint(path).find("header") != std::string::npos);
  }
  put(path, std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + four_floats);
  CHECK(complaint(path).find("has a header of 4294967295 bytes") != std::string::npos);
}

TEST_CASE("what is not such an array is named, with a way out") {
  TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  const auto with_descr = [&](const std::string& descr) {
    put(path,
        version_1("{'descr': " + descr + ", 'fortran_order': False, 'shape': (4,)}", four_floats));
    return complaint(path);
  };
  CHECK(with_descr("'|O'").find("dtype '|O'; convert it with .astype()") != std::string::npos);
  CHECK(with_descr("'<c8'").find("dtype '<c8'") != std::string::npos);
  CHECK(with_descr("'<U4'").find("dtype '<U4'") != std::string::npos);
  CHECK(with_descr("[('a', '<f4')]").find("records of several fields") != std::string::npos);
  put(path, "PK\x03\x04 and more of it");
  CHECK(complaint(path).find(".npz") != std::string::npos);
  CHECK(complaint(folder / "absent.npy").find("there is no such file") != std::string::npos);
  CHECK(complaint(folder.path()).find("is a directory") != std::string::npos);
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(complaint(folder / "pipe").find("not a regular file") != std::string::npos);
}

TEST_CASE("a write that fails leaves what was there") {
  TemporaryFolder folder;
  const NpyArray array{{'f', 4}, {4}, false, bytes(four_floats)};
  CHECK_THROWS_AS(write_npy(folder / "absent/x.npy", array), DiagnosticError);
  CHECK_THROWS_AS(write_npy(folder.path(), array), DiagnosticError);
  write_npy(folder / "x.npy", array);
  std::filesystem::create_symlink("x.npy", folder / "link.npy");
  write_npy(folder / "link.npy", {{'u', 1}, {16}, false, bytes(four_floats)});
  CHECK(std::filesystem::is_symlink(folder / "link.npy"));
  CHECK(read_npy(folder / "x.npy").type == NpyType{'u', 1});
  const auto files = std::filesystem::directory_iterator(folder.path());
  CHECK(std::distance(begin(files), end(files)) == 2);
}
