#include "runtime/bench/result.h"
#include "runtime/io/json.h"

namespace lay::bench {
namespace {

using runtime::json_array;
using runtime::json_number;
using runtime::JsonObject;

std::string numbers(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(json_number(static_cast<float>(value)));
  return json_array(texts);
}

std::string_view side_name(Side side) {
  switch (side) {
    case Side::ours:
      return "lay";
    case Side::library:
      return "cublaslt";
    case Side::library_and_epilogue:
      return "cublaslt+epilogue";
    case Side::copy:
      return "copy";
    case Side::triton:
      return "triton";
    case Side::torch:
      return "torch";
    case Side::torch_compile:
      return "torch.compile";
    case Side::equal_gemm:
      return "equal gemm";
  }
  return "";
}

// Times in milliseconds a launch; `graph` and `single` have one entry a round.
std::string row_json(const Result& result, const Row& row) {
  JsonObject object;
  object.string("side", side_name(row.side)).string("name", row.name);
  if (!row.detail.empty()) object.string("detail", row.detail);
  if (!row.failure.empty()) return object.string("failure", row.failure).text();
  const Timing& timing = row.timing;
  if (timing.graph.empty()) return object.boolean("launched", true).text();
  object.raw("ms", json_number(timing.median()))
      .raw("single_ms", json_number(timing.single_median()))
      .raw("bytes", json_number(result.bytes_of(row)));
  if (const double share = result.share_of_copy(row); share > 0)
    object.raw("share_of_copy", json_number(share));
  object.raw("spread", json_number(timing.spread())).raw("graph", numbers(timing.graph));
  object.raw("single", numbers(timing.single))
      .integer("warm_ups", timing.warm_ups)
      .boolean("settled", timing.settled);
  if (const auto reading = timing.median_reading())
    object.raw("sm_mhz", json_number(reading->sm_mhz)).raw("watts", json_number(reading->watts));
  if (const auto joules = timing.joules()) object.raw("joules", json_number(*joules));
  object.boolean("right", row.right).string("verdict", row.check);
  if (row.side == Side::ours || row.side == Side::triton)
    object.integer("registers", row.registers).integer("local_bytes", row.local_bytes);
  if (row.expected > 0) object.raw("expected_ms", json_number(row.expected));
  if (row.side == Side::ours)
    object.raw("compile_seconds", json_number(row.compile_seconds));
  else
    object.raw("ratio", json_number(result.ratio(row)))
        .raw("single_ratio", json_number(result.single_ratio(row)));
  return object.text();
}

std::string result_json(const Result& result) {
  JsonObject sizes, scalars, object;
  for (const auto& [name, value] : result.sizes) sizes.integer(name, value);
  for (const auto& [name, value] : result.scalars) scalars.raw(name, json_number(value));
  object.string("kernel", result.kernel).raw("sizes", sizes.text()).raw("scalars", scalars.text());
  if (!result.failure.empty()) return object.string("failure", result.failure).text();
  std::vector<std::string> rows;
  for (const Row& row : result.rows) rows.push_back(row_json(result, row));
  return object.string("form", result.form)
      .raw("operations", json_number(result.operations))
      .raw("bytes", json_number(result.bytes))
      .integer("sets", result.sets)
      .boolean("right", result.right())
      .raw("rows", json_array(rows))
      .raw("notes", runtime::json_strings(result.notes))
      .text();
}

}  // namespace

std::string to_json(const Setting& setting, const std::vector<Result>& results) {
  std::vector<std::string> all;
  for (const Result& result : results) all.push_back(result_json(result));
  JsonObject device;
  device.string("name", setting.device.name)
      .integer("major", setting.device.major)
      .integer("minor", setting.device.minor)
      .integer("sms", setting.device.sms)
      .integer("l2_bytes", setting.device.l2_bytes);
  JsonObject protocol;
  protocol.integer("rounds", setting.protocol.rounds)
      .integer("launches", setting.protocol.launches)
      .integer("singles", setting.protocol.singles)
      .raw("milliseconds", json_number(setting.protocol.milliseconds));
  std::vector<std::string> missing;
  for (const std::string* each : {&setting.library_missing, &setting.sensors_missing,
                                  &setting.triton_missing, &setting.torch_missing})
    if (!each->empty()) missing.push_back(*each);
  return runtime::json_indented(JsonObject()
                                    .integer("bench", 1)  // the version of this format
                                    .string("lay", LAY_VERSION)
                                    .string("script", setting.script)
                                    .raw("device", device.text())
                                    .integer("driver", setting.driver_version)
                                    .string("cublaslt", setting.library)
                                    .string("triton", setting.triton)
                                    .string("torch", setting.torch)
                                    .raw("missing", runtime::json_strings(missing))
                                    .raw("protocol", protocol.text())
                                    .raw("results", json_array(all))
                                    .text());
}

}  // namespace lay::bench
