// A machine of mbarriers and agents, to run what pipelines and roles say: each agent has a list of
// steps, and a drawn agent takes its next one where that does not have to wait. Phases and bytes
// are as PTX ISA has them: a phase is over when all arrivals and all expected bytes have come, and
// a wait for a parity passes when the phase of that parity is over.
//
// Stages hold rounds. A step that writes a stage before all readers of its last round have given it
// back, or reads one that is not complete, is a fault, and so are agents that all wait.
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

namespace lay::test {

// An mbarrier: of a block, by name, the slot.
struct Slot {
  int block = 0;
  std::string barrier;
  int slot = 0;

  friend auto operator<=>(const Slot&, const Slot&) = default;
};

// A stage's content: the round of a pipeline in a block, or in what a warpgroup of it has apart.
struct Round {
  std::string pipeline;
  int block = 0, apart = 0, round = 0;

  friend auto operator<=>(const Round&, const Round&) = default;
};

struct Step {
  enum class Kind { wait, arrive, write, read, release };
  Kind kind;
  Slot at;         // wait, arrive; of write: whose bytes come, empty if a thread stores
  int number = 0;  // wait: the parity; arrive: bytes that are expected
  Round round;     // write, read, release
};

class Machine {
 public:
  void add_barrier(const Slot& at, int arrivals) { barriers_[at] = {arrivals, arrivals}; }
  // A round is complete after `parts` writes, and free after `readers` releases.
  void add_round(const Round& round, int parts, int readers) { rounds_[round] = {parts, readers}; }
  // A pipeline has as many stages.
  void set_stages(const std::string& pipeline, int stages) { stages_[pipeline] = stages; }
  void add_agent(std::vector<Step> steps) { agents_.push_back({std::move(steps)}); }

  // Runs all agents to their end; returns the first fault.
  std::string run(std::mt19937& random) {
    while (fault_.empty()) {
      std::vector<std::size_t> ready;
      bool done = copies_.empty();
      for (std::size_t i = 0; i < agents_.size(); ++i) {
        if (agents_[i].next == agents_[i].steps.size()) continue;
        done = false;
        if (may_go(agents_[i].steps[agents_[i].next])) ready.push_back(i);
      }
      if (done) return "";
      if (ready.empty() && copies_.empty()) return "all agents wait";
      // A copy that is on its way ends at any time.
      const std::size_t which = random() % (ready.size() + copies_.size());
      if (which < ready.size()) {
        Agent& agent = agents_[ready[which]];
        take(agent.steps[agent.next++]);
      } else {
        finish(which - ready.size());
      }
    }
    return fault_;
  }

 private:
  struct Mbarrier {
    int arrivals = 1, pending = 1, bytes = 0, phase = 0;
  };
  struct Stage {
    int parts = 1, readers = 1;
    int written = 0, complete = 0, released = 0;
  };
  struct Agent {
    std::vector<Step> steps;
    std::size_t next = 0;
  };

  bool may_go(const Step& step) const {
    if (step.kind != Step::Kind::wait) return true;
    const auto found = barriers_.find(step.at);
    return found != barriers_.end() && found->second.phase % 2 != step.number;
  }

  void end_phase(Mbarrier& barrier) {
    if (barrier.pending != 0 || barrier.bytes != 0) return;
    ++barrier.phase;
    barrier.pending = barrier.arrivals;
  }

  void take(const Step& step) {
    switch (step.kind) {
      case Step::Kind::wait:
        return;
      case Step::Kind::arrive: {
        const auto found = barriers_.find(step.at);
        if (found == barriers_.end()) {
          fault_ = "no slot " + std::to_string(step.at.slot) + " of " + step.at.barrier;
          return;
        }
        Mbarrier& barrier = found->second;
        barrier.bytes += step.number;
        if (--barrier.pending < 0) fault_ = step.at.barrier + " has an arrival too many";
        return end_phase(barrier);
      }
      case Step::Kind::write:
        return write(step);
      case Step::Kind::read: {
        const Stage& stage = rounds_.at(step.round);
        if (stage.complete != stage.parts)
          fault_ = text(step.round) + " is read before it is there";
        return;
      }
      case Step::Kind::release:
        ++rounds_.at(step.round).released;
        return;
    }
  }

  void write(const Step& step) {
    Round before = step.round;
    before.round -= stages_.at(step.round.pipeline);
    if (const auto old = rounds_.find(before);
        old != rounds_.end() && old->second.released != old->second.readers)
      fault_ = text(before) + " is overwritten while it is read";
    ++rounds_.at(step.round).written;
    if (step.at.barrier.empty()) {
      ++rounds_.at(step.round).complete;
    } else {
      copies_.push_back(step);
    }
  }

  void finish(std::size_t which) {
    const Step step = copies_[which];
    copies_.erase(copies_.begin() + static_cast<std::ptrdiff_t>(which));
    ++rounds_.at(step.round).complete;
    Mbarrier& barrier = barriers_.at(step.at);
    --barrier.bytes;
    end_phase(barrier);
  }

  static std::string text(const Round& round) {
    return "round " + std::to_string(round.round) + " of " + round.pipeline + " in block " +
           std::to_string(round.block);
  }

  std::map<Slot, Mbarrier> barriers_;
  std::map<Round, Stage> rounds_;
  std::map<std::string, int> stages_;
  std::vector<Agent> agents_;
  std::vector<Step> copies_;  // on their way
  std::string fault_;
};

}  // namespace lay::test
