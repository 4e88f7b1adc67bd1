#include "runtime/commands/policies.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "backend/target/target.h"
#include "frontend/algebra/support/refusal.h"
#include "frontend/sema/kernel/tuned_rows.h"
#include "frontend/sema/library.h"
#include "runtime/io/file.h"
#include "runtime/io/user_dirs.h"

namespace lay::runtime {

namespace {

// $OWN, or a folder of that name among the user's data.
std::string data_folder(const char* own, const char* name) {
  const std::string folder = user_dir(own, "XDG_DATA_HOME", ".local/share");
  const char* said = std::getenv(own);
  return folder.empty() || (said && folder == said) ? folder : folder + "/" + name;
}

// The files of the folder that end in .lay, by name: the first file's record of a GPU counts.
std::vector<std::string> lay_files(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (std::filesystem::directory_iterator each(folder, ignored), end; each != end;
       each.increment(ignored))
    if (each->path().extension() == ".lay") files.push_back(each->path().string());
  std::sort(files.begin(), files.end());
  return files;
}

Diagnostic ignored_file(const std::string& message) {
  Diagnostic d{"file", message};
  d.severity = Severity::warning;
  d.notes.push_back({"help",
                     "the file is ignored, and its GPU is planned for as the library describes it; "
                     "`lay calibrate` measures it anew"});
  return d;
}

}  // namespace

std::string policy_folder() {
  return data_folder("LAY_POLICIES", "policies");
}

std::string tuned_policy_path(const std::string& folder, const std::string& family) {
  return folder + "/tuned_" + family + ".lay";
}

namespace {

constexpr std::array families{"sm90", "sm80", "simt"};

void read_policy(const std::string& folder, const std::string& family) {
  const std::string path = tuned_policy_path(folder, family), library = "user.tuned_" + family;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored))
    sema::add_library(library, path, read_file(path));
  else if (sema::has_library(library))
    sema::add_library(library, path, "let rows = ()\n");
}

}  // namespace

void read_policies(const std::string& folder) {
  if (folder.empty()) return;
  for (const char* family : families) read_policy(folder, family);
}

Diagnostics read_valid_policies(const std::string& folder) {
  Diagnostics wrong;
  if (folder.empty()) return wrong;
  for (const std::string family : families) {
    const auto ignore = [&](const std::string& message) {
      const std::string path = tuned_policy_path(folder, family);
      Diagnostic d{"file",
                   message.find(path) == std::string::npos ? path + ": " + message : message};
      d.severity = Severity::warning;
      d.notes.push_back({"help", "the file is ignored; `lay tune` writes such files"});
      wrong.add(d);
      sema::add_library("user.tuned_" + family, path, "let rows = ()\n");
    };
    try {
      read_policy(folder, family);
      sema::tuned_rows(family);
    } catch (const Refusal& refusal) {
      ignore(refusal.message);
    } catch (const DiagnosticError& error) {
      ignore(error.diagnostic.message);
    }
  }
  return wrong;
}

std::string target_folder() {
  return data_folder("LAY_TARGETS", "targets");
}

std::string measured_gpu_path(const std::string& folder, const std::string& device) {
  std::string name;
  for (const char c : device)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' ? c : '_';
  return folder + "/" + name + ".lay";
}

Diagnostics read_measured_gpus(const std::string& folder) {
  Diagnostics wrong;
  std::vector<MeasuredGpu> all;
  if (!folder.empty())
    for (const std::string& path : lay_files(folder)) try {
        const std::string library = "user.target_" + path;
        sema::add_library(library, path, read_file(path));
        const auto found = measured_gpus_of(library);
        all.insert(all.end(), found.begin(), found.end());
      } catch (const Refusal& refusal) {
        wrong.add(ignored_file(refusal.message));
      } catch (const DiagnosticError& error) {
        wrong.add(ignored_file(error.diagnostic.message));
      }
  set_measured_gpus(std::move(all));
  return wrong;
}

}  // namespace lay::runtime
