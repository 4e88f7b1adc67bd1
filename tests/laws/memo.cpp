#include "frontend/algebra/support/memo.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

TEST_CASE("a memo makes an answer once, and begins anew when it is full") {
  lay::Memo<int, int> squares(3);
  int made = 0;
  const auto square = [&](int n) { return squares(n, [&] { return ++made, n * n; }); };
  for (int round = 0; round < 2; ++round)
    for (int n = 0; n < 3; ++n) CHECK(square(n) == n * n);
  CHECK(made == 3);
  CHECK(square(3) == 9);  // beside which no other is kept
  CHECK(made == 4);
  CHECK(square(0) == 0);
  CHECK(made == 5);
  CHECK(square(3) == 9);
  CHECK(made == 5);
}

TEST_CASE("a memo keeps nothing where an answer cannot be made") {
  lay::Memo<int, int> answers;
  CHECK_THROWS_AS(answers(1, []() -> int { throw 1; }), int);
  CHECK(answers(1, [] { return 2; }) == 2);
}

TEST_CASE("a memo that threads share gives each the same answers") {
  lay::Memo<int, int> answers(16);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int& each : wrong)
    threads.emplace_back([&] {
      for (int n = 0; n < 20000; ++n)
        each += answers(n % 40, [&] {
                  // An answer may need another.
                  return answers(n % 40 + 100, [&] { return n % 40; }) + 1;
                }) != n % 40 + 1;
    });
  for (std::thread& each : threads) each.join();
  CHECK(wrong == std::vector<int>(4));
}
