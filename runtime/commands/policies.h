// What was found by measuring on this machine, in Lay text that the user may read and change:
// policies by `lay tune`, which stand before those of the standard library in every plan, and
// numbers of GPUs by `lay calibrate`, which stand for those of stdlib/targets. So a Lay that nobody
// may write to learns too.
#pragma once

#include <string>

#include "frontend/source/diagnostic.h"

namespace lay::runtime {

// $LAY_POLICIES, else $XDG_DATA_HOME/lay/policies, else ~/.local/share/lay/policies; empty where
// none is an absolute path.
std::string policy_folder();

// "tuned_sm90.lay" in that folder.
std::string tuned_policy_path(const std::string& folder, const std::string& family);

// Reads the files of the folder, so that plans ask them from now on, in place of those that were
// read before (frontend/sema/kernel/tuned_rows.h). DiagnosticError "file" for one that cannot be
// read. An error in a file is known when the file is asked.
void read_policies(const std::string& folder);

// The same, where each file is asked once: one that is wrong, or cannot be read, is ignored.
// Returns what is wrong with each, as warnings.
Diagnostics read_valid_policies(const std::string& folder);

// $LAY_TARGETS, else $XDG_DATA_HOME/lay/targets, else ~/.local/share/lay/targets; empty where none
// is an absolute path.
std::string target_folder();

// "NVIDIA_H100_80GB_HBM3.lay" in that folder: the file of a GPU by the driver's name of it.
std::string measured_gpu_path(const std::string& folder, const std::string& device);

// Reads the files NAME.lay of the folder by name, so that targets from now on have their numbers
// (backend/target/target.h); of two records for one GPU the first counts. A file that is wrong is
// ignored: returns what is wrong with each, as warnings "file".
Diagnostics read_measured_gpus(const std::string& folder);

}  // namespace lay::runtime
