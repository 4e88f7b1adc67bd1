#include "runtime/bench/protocol.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "runtime/bench/energy.h"
#include "runtime/gpu/stream.h"

namespace lay::bench {
namespace {

using runtime::Event;
using runtime::Graph;
using runtime::Stream;

// A candidate's launches, recorded: graphs that visit one set after another, all sets before the
// first again. Those of a remote candidate are where it is.
struct Recorded {
  std::vector<Graph> graphs;
  int count = 0;    // of graphs
  int replays = 1;  // of all graphs, in a round
};

class Measurement {
 public:
  Measurement(const std::vector<Candidate>& candidates, const Protocol& protocol,
              const Nvml* sensors)
      : candidates_(candidates),
        protocol_(protocol),
        sensors_(sensors),
        timings_(candidates.size()) {
    for (const Candidate& candidate : candidates) recorded_.push_back(record(candidate));
  }

  std::vector<Timing> run() {
    warm_up();
    for (int round = 0; round < protocol_.rounds; ++round)
      for (const std::size_t at : order(round)) {
        timings_[at].graph.push_back(time_graphs(at, true, &timings_[at].readings));
        timings_[at].single.push_back(time_singles(at, round));
      }
    stream_.wait();
    return std::move(timings_);
  }

 private:
  Recorded record(const Candidate& candidate) const {
    Recorded made;
    made.count = (protocol_.sets + protocol_.launches - 1) / protocol_.launches;
    if (candidate.remote) return made;
    for (int set = 0; set < std::min(2, protocol_.sets); ++set)
      candidate.launch(set, stream_.handle());
    stream_.wait();  // what is made for a first launch is made
    int next = 0;
    for (int graph = 0; graph < made.count; ++graph)
      made.graphs.push_back(Graph::of(stream_, [&] {
        for (int i = 0; i < protocol_.launches; ++i)
          candidate.launch(next++ % protocol_.sets, stream_.handle());
      }));
    return made;
  }

  std::vector<std::size_t> order(int round) const {
    std::vector<std::size_t> order;
    for (std::size_t turn = 0; turn < candidates_.size(); ++turn)
      order.push_back((turn + static_cast<std::size_t>(round)) % candidates_.size());
    if (round / 2 % 2 == 1) std::reverse(order.begin(), order.end());
    return order;
  }

  // Until no candidate's time differs by more than 2 % from one some work before, or for six times
  // that work. The rounds also say how often the graphs fit into a round's time.
  void warm_up() {
    constexpr double settled = 0.02, longest = 1000;  // milliseconds
    const double apart = std::min(longest, 20 * protocol_.milliseconds), most = 6 * apart;
    std::vector<double> now(candidates_.size(), 0), before;
    double spent = 0, since = 0;
    for (int round = 0; round < protocol_.most_warm_ups && spent < most; ++round) {
      double worked = 0;
      for (const std::size_t at : order(round)) {
        now[at] = time_graphs(at, false, nullptr);
        const double all = now[at] * protocol_.launches * recorded_[at].count;
        worked += all * recorded_[at].replays;
        recorded_[at].replays =
            static_cast<int>(std::clamp(protocol_.milliseconds / std::max(all, 1e-4), 1.0, 1e4));
      }
      spent += worked, since += worked;
      double change = before.empty() ? 1 : 0;
      for (std::size_t at = 0; at < before.size(); ++at)
        change = std::max(change, std::abs(now[at] - before[at]) / std::max(now[at], 1e-6));
      for (Timing& timing : timings_) {
        timing.warm_ups = round + 1;
        timing.settled = change < settled;
      }
      if (!before.empty() && since < apart) continue;
      if (change < settled) return;
      before = now, since = 0;
    }
  }

  void launch_graphs(std::size_t at) const {
    for (int i = 0; i < recorded_[at].replays; ++i)
      for (const Graph& graph : recorded_[at].graphs) graph.launch(stream_);
  }

  // Returns milliseconds a launch, directly after as many untimed launches if `warmed`.
  double time_graphs(std::size_t at, bool warmed, std::vector<Reading>* readings) {
    const Recorded& recorded = recorded_[at];
    if (RemoteLauncher* remote = candidates_[at].remote.get()) {
      stream_.wait();
      return remote->time_graphs(warmed ? recorded.replays : 0, recorded.replays);
    }
    if (warmed) launch_graphs(at);
    begin_.record(stream_.handle());
    launch_graphs(at);
    end_.record(stream_.handle());
    if (readings && sensors_) watch(*readings);
    end_.wait();
    const auto launches = recorded.replays * protocol_.launches * recorded.count;
    return end_.milliseconds_since(begin_) / launches;
  }

  // Reads the sensors while the device works; the last reading counts, when clocks and power have
  // settled most. Energy is that of the candidate alone: it runs untimed before, and the counter's
  // updates are seen from there on.
  void watch(std::vector<Reading>& readings) const {
    std::optional<Reading> last;
    EnergyMeter meter;
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const auto now = std::chrono::steady_clock::now().time_since_epoch();
      const auto joules = sensors_->joules();
      const auto reading = sensors_->read();
      if (end_.happened() && last) break;
      if (reading) last = reading;
      if (joules) meter.add(std::chrono::duration<double>(now).count(), *joules);
    } while (!end_.happened());
    if (!last) return;
    last->mean_watts = meter.watts();
    readings.push_back(*last);
  }

  double time_singles(std::size_t at, int round) {
    const int first = round * protocol_.singles;
    if (RemoteLauncher* remote = candidates_[at].remote.get())
      return median_of(remote->time_singles(first, protocol_.singles));
    std::vector<double> each;
    for (int i = 0; i < protocol_.singles; ++i) {
      const int set = (first + i) % protocol_.sets;
      begin_.record(stream_.handle());
      candidates_[at].launch(set, stream_.handle());
      end_.record(stream_.handle());
      end_.wait();
      each.push_back(end_.milliseconds_since(begin_));
    }
    return median_of(std::move(each));
  }

  const std::vector<Candidate>& candidates_;
  const Protocol& protocol_;
  const Nvml* sensors_;
  const Stream stream_;
  const Event begin_, end_;
  std::vector<Recorded> recorded_;
  std::vector<Timing> timings_;
};

}  // namespace

int sets_beyond_cache(std::size_t bytes, std::int64_t cache_bytes) {
  const std::int64_t each = std::max<std::int64_t>(static_cast<std::int64_t>(bytes), 1);
  return static_cast<int>(std::clamp<std::int64_t>((2 * cache_bytes + each - 1) / each, 2, 200));
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  if (n == 0) return 0;
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double Timing::median() const {
  return median_of(graph);
}

double Timing::single_median() const {
  return median_of(single);
}

double Timing::spread() const {
  const auto [least, most] = std::minmax_element(graph.begin(), graph.end());
  return graph.empty() || median() <= 0 ? 0 : (*most - *least) / median();
}

std::optional<Reading> Timing::median_reading() const {
  if (readings.empty()) return std::nullopt;
  std::vector<double> clocks, powers, means;
  for (const Reading& reading : readings) {
    clocks.push_back(reading.sm_mhz);
    powers.push_back(reading.watts);
    if (reading.mean_watts) means.push_back(*reading.mean_watts);
  }
  Reading median{median_of(clocks), median_of(powers)};
  if (!means.empty()) median.mean_watts = median_of(means);
  return median;
}

std::optional<double> Timing::joules() const {
  const auto reading = median_reading();
  if (!reading || !reading->mean_watts) return std::nullopt;
  return *reading->mean_watts * median() / 1000;
}

std::vector<Timing> measure(const std::vector<Candidate>& candidates, const Protocol& protocol,
                            const Nvml* sensors) {
  return Measurement(candidates, protocol, sensors).run();
}

}  // namespace lay::bench
