#include "backend/plan/schedule/entries.h"

#include <algorithm>

#include "frontend/source/text.h"

namespace lay::plan {
namespace {

// A name may have several rows, one a family: `tile` of a product has three numbers, of a permute
// kernel one an index. The help page of a name lists all of them.
constexpr EntryRow rows[] = {
    {"name", "simt sm80 sm90 permute reduction",
     "what the variant is called by `lay plan`, `lay bench` and in emitted code",
     "a name in quotes, for each schedule of a kernel another one; without it, the target and a "
     "number",
     "name = \"tall\""},
    {"accesses", "simt sm80 sm90 reduction",
     "how global memory is read and written: in vectors as wide as the tensors allow, under "
     "conditions on sizes and pointers, or element by element",
     "\"vectors\" or \"elements\"; without it, a variant of each", "accesses = \"vectors\""},
    {"accesses", "permute", "the widest access to global memory: bytes, or one element",
     "16, 8, 4 or \"elements\"; without it, a variant of each", "accesses = 16"},
    {"cost", "simt sm80 sm90 permute reduction",
     "what a launch costs, in any unit: of schedules with a cost that stand side by side the "
     "launcher takes the one of least cost at the sizes at hand, among those whose conditions hold",
     "an integer over the sizes; without it, schedules are tried in order",
     "cost = ceil_div(M,128) * ceil_div(N,128)"},
    {"portfolio", "simt sm80 sm90 permute reduction",
     "a number: costs are compared among neighbours with the same one",
     "an integer from 0 to 1000, beside a cost; without it, 0", "portfolio = 1"},
    {"repack", "sm90",
     "an operand that a first launch copies into workspace, in rows that TMA reads and the "
     "instruction takes, and the accesses of that launch",
     "\"vectors\" or \"elements\", the same for both operands; without it, the planner chooses",
     "repack A = \"elements\""},
    {"operands", "sm90",
     "whether the operands of a convolution, of a sum over several indices, or of products that "
     "share one are read where they lie in one launch, or are computed by launches that come first "
     "and store them in workspace",
     "\"in_place\" or \"stored\"; without it, in place where TMA can", "operands = \"in_place\""},
    {"outputs", "simt sm80 sm90",
     "whether outputs whose neighbours in memory are no neighbours in a tile are written by the "
     "product itself, or to workspace in rows, which a launch behind it permutes",
     "\"direct\" or \"permuted\"; without it, direct; without a schedule, permuted where that "
     "moves less memory",
     "outputs = \"direct\""},
    {"tile", "simt sm80 sm90", "the tile of the product that a block computes: M, N, K",
     "three integers from 1 to 4096", "tile = (128,128,16)"},
    {"tile", "permute", "the tile that a block moves: an extent for each index of the output",
     "as many integers as the first output has indices, each from 1 to 4096", "tile = (32,64)"},
    {"mma", "sm80", "the multiply-add of a warp, a record of `stdlib/atoms` or your own",
     "an atom that the GPU has, for the kernel's element types",
     "mma = sm80.mma(m = 16, k = 16, ab = bf16, acc = f32)"},
    {"mma", "sm90", "the multiply-add of a warpgroup, a record of `stdlib/atoms` or your own",
     "an atom of 64 rows that reads B from shared memory, for the kernel's element types",
     "mma = sm90.wgmma(n = 256, ab = bf16, acc = f32)"},
    {"copies", "sm80 sm90",
     "instructions that copy, records of `stdlib/atoms` or your own, in place of those that the "
     "planner takes: each is taken wherever it copies what is wanted",
     "one, or several in parentheses, that the GPU has and that copy something of the schedule; "
     "without it, the library's",
     "copies = (sm75.ldmatrix(n = 2), sm80.cp_async(bytes = 8))"},
    {"groups", "simt sm80", "warps of a block over M, N, K of the tile, and over successive tiles",
     "four integers, at most 32 warps together", "groups = (2,2,1,1)"},
    {"groups", "sm90",
     "consumer warpgroups over M, N, K of the tile, and over successive tiles (ping-pong)",
     "four integers; K is 1; (2,1,1,1) is cooperative, (1,1,1,2) is ping-pong",
     "groups = (2,1,1,1)"},
    {"lanes", "simt", "where each lane of a warp stands: lane -> (row, column)",
     "a layout of 32 lanes, each at a place of its own", "lanes = row_major_interleaved((4,8), 2)"},
    {"lane_tile", "simt", "the elements of a lane: M, N, K",
     "three integers; times lanes and groups they give the tile", "lane_tile = (4,4,1)"},
    {"stages", "simt", "K tiles in shared memory at once: the depth of the pipeline",
     "2 to 32; from 3 on a producer warpgroup loads by TMA (compute capability 9.0)", "stages = 2"},
    {"stages", "sm80 sm90", "K tiles in shared memory at once: the depth of the pipeline",
     "2 to 32, as many as shared memory holds", "stages = 4"},
    {"smem", "simt sm80 sm90",
     "the layout of one stage of an operand in shared memory: (row, k) -> offset in elements",
     "an injective layout, swizzled or not, of the operand's tile",
     "smem A = Sw<3,3,3> o 0 o (128,64):(64,1)"},
    {"smem", "permute",
     "the layout of an input's tile in shared memory: coordinate in the tile -> offset in elements",
     "an injective layout, swizzled or not, of the tile",
     "smem X = Sw<3,2,6> o 0 o (32,64):(64,1)"},
    {"private", "sm80",
     "whether each lane copies for itself what it multiplies of an operand, so that no thread "
     "waits "
     "for another's copy of it",
     "0 or 1, 1 for one operand, with one warp along the other one and an instruction whose lanes "
     "hold neighbours along K, as `sm80.mma_pair`; without it all threads of a block copy it",
     "private B = 1"},
    {"threads", "permute", "the threads of a block", "a multiple of 32, at most 1024",
     "threads = 128"},
    {"threads", "reduction",
     "the thread-value layout of a tile: (thread, value) -> (row, column), the elements of an "
     "access "
     "first",
     "a layout that covers its tile once; threads a multiple of 32, at most 1024, in powers of two",
     "threads = ((32,4),(8,4)):((8@1,1@0),(1@1,256@1))"},
    {"columns", "reduction",
     "whether a tile holds whole rows, so that each element is read once, or columns go by in "
     "tiles, "
     "once for each reduction that needs another one first",
     "\"kept\" or \"streamed\"", "columns = \"kept\""},
    {"parts", "reduction",
     "the parts of the columns that blocks of a first launch reduce into workspace; a second "
     "launch "
     "joins them in order",
     "an integer from 2 to 65535; without it, one launch", "parts = 16"},
    {"stages", "reduction",
     "the tiles of whole rows that are on their way to shared memory while one is reduced, by "
     "blocks that take tile after tile",
     "an integer from 0 to 8; 0: a block takes one tile; without it, 1 for rows that the blocks of "
     "a "
     "cluster share, if there is room",
     "stages = 2"},
    {"group_m", "simt sm80 sm90",
     "the usual rasterization: tiles go column by column in groups of at most that many rows, so "
     "that blocks that run together share rows and columns in L2",
     "an integer from 1 to 4096", "group_m = 8"},
    {"rasterization", "simt sm80 sm90", "the order of tiles: block or cluster -> (tile m, tile n)",
     "a layout that visits every tile once; not together with `group_m`",
     "rasterization = (4,4):(1@0,1@1)"},
    {"rasterization", "permute", "the order of tiles: block -> coordinate of the tile",
     "a layout that visits every tile once", "rasterization = (4,4):(1@1,1@0)"},
    {"cluster", "simt",
     "blocks that share K and add their sums over DSMEM (compute capability 9.0)",
     "(1,1), or (1,1,P) for P blocks, 2 to 8", "cluster = (1,1,4)"},
    {"cluster", "sm80 sm90",
     "blocks over M and N that share what they load by multicast, and blocks that split K and add "
     "their sums over DSMEM",
     "two or three integers, together at most 8; (1,1) on sm80, whose blocks form no clusters",
     "cluster = (1,1)"},
    {"swap_ab", "sm80 sm90",
     "whether A and B change places, so that the rows of the instruction are the columns of the "
     "output; `tile` and `smem` describe the swapped product",
     "0 or 1", "swap_ab = 1"},
    {"promotion_interval", "sm80 sm90",
     "the elements of K that the tensor cores add up before the sum goes on in registers: products "
     "of 8-bit floats are summed with about 13 bits otherwise",
     "1 to 4096, whole steps of the instruction; without it, all of K, or what the groups of "
     "scales "
     "allow",
     "promotion_interval = 128"},
    {"alternate_k", "sm90",
     "whether every other tile of a cluster walks K from its end, and so begins with what L2 still "
     "holds; the order of a sum then depends on the tile",
     "0 or 1", "alternate_k = 1"},
    {"tail", "sm90",
     "the parts of K that the tiles of a last wave are cut into, so that all clusters have work: "
     "the sums of the parts meet in workspace, in a fixed order",
     "an integer from 2 to 16; without it, tiles are whole", "tail = 4"},
};

// Names that people type for an entry: what it was called before, and what other tools call it.
// Words of earlier versions, and of Triton (num_warps, num_stages, GROUP_SIZE_M) and other tools.
struct Synonym {
  std::string_view name;
  std::vector<std::string_view> entries;
};

const std::vector<Synonym>& synonyms() {
  static const std::vector<Synonym> list = {{"order", {"rasterization", "group_m"}},
                                            {"swapped", {"swap_ab"}},
                                            {"serpentine", {"alternate_k"}},
                                            {"accumulate", {"promotion_interval"}},
                                            {"split_k", {"cluster", "tail"}},
                                            {"stream_k", {"tail"}},
                                            {"block", {"tile"}},
                                            {"warps", {"groups"}},
                                            {"num_warps", {"groups"}},
                                            {"num_stages", {"stages"}},
                                            {"group_size_m", {"group_m"}},
                                            {"vectorize", {"accesses"}},
                                            {"vector_width", {"accesses"}},
                                            {"ldmatrix", {"copies"}},
                                            {"cp_async", {"copies"}},
                                            {"im2col", {"operands"}},
                                            {"variant", {"name"}}};
  return list;
}

}  // namespace

bool EntryRow::is_for(std::string_view family) const {
  // Families are words of different letters, so that a substring is a word.
  const std::size_t at = families.find(family);
  return at != families.npos && !family.empty();
}

std::span<const EntryRow> entry_rows() {
  return rows;
}

std::vector<const EntryRow*> entries_of(std::string_view family) {
  std::vector<const EntryRow*> result;
  // In the table's order, which is the order of help pages and messages: what one chooses first.
  for (const EntryRow& row : rows)
    if (row.is_for(family)) result.push_back(&row);
  return result;
}

const EntryRow* find_entry(std::string_view name, std::string_view family) {
  for (const EntryRow* row : entries_of(family))
    if (row->name == name) return row;
  return nullptr;
}

std::vector<std::string> entry_names() {
  std::vector<std::string> names;
  for (const EntryRow& row : rows)
    if (std::find(names.begin(), names.end(), row.name) == names.end())
      names.emplace_back(row.name);
  return names;
}

std::vector<std::string_view> entries_called(std::string_view synonym) {
  for (const Synonym& entry : synonyms())
    if (entry.name == synonym) return entry.entries;
  return {};
}

std::optional<std::string> meant_entry(std::string_view name, std::string_view family) {
  // A synonym is certain, a near name a guess: synonyms first.
  std::string now;
  for (const std::string_view entry : entries_called(name))
    now += (now.empty() ? "" : " or ") + std::string(entry);
  if (!now.empty()) return now;
  std::vector<std::string> known;
  for (const EntryRow* row : entries_of(family)) known.emplace_back(row->name);
  return nearest(name, known);
}

}  // namespace lay::plan
