#include "frontend/sema/show/show.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "frontend/algebra/layouts/operations.h"
#include "frontend/export/dims.h"
#include "frontend/sema/apply.h"
#include "frontend/sema/prelude.h"
#include "frontend/sema/show/show_operation.h"
#include "frontend/source/text.h"

namespace lay::sema {
namespace {

constexpr std::size_t kMostPictures = 64;
constexpr int kFewestCells = 16;

// Returns the text of the source, in one line that fits above a picture.
std::string title_of(std::string_view text) {
  constexpr std::size_t longest = 120;
  std::string line = one_line(text);
  if (line.size() <= longest) return line;
  std::size_t end = longest;
  while (end > 0 && (line[end] & 0xc0) == 0x80) --end;
  return line.substr(0, end) + "...";
}

class Drawing {
 public:
  Drawing(Session& session, Frame& frame, const syntax::Show& show, Span where)
      : session_(session),
        frame_(frame),
        show_(show),
        where_(where),
        options_(show_options(session, frame, show)) {
    if (session.options.for_tex) options_.draw.limits = picture::Limits::for_tex();
  }

  std::vector<picture::Picture> pictures() {
    for (const syntax::Argument& argument : show_.arguments) {
      if (argument.name) continue;
      where_ = frame_.tree()[argument.value].span;
      const Value value = instantiated(session_, frame_, options_, argument.value);
      const std::string title = title_of(session_.sources.text(where_));
      try {
        draw_expression(definition_of(frame_, argument.value), title, value);
      } catch (const Refusal& refusal) {
        throw DiagnosticError(to_diagnostic(refusal, where_, {}));
      }
    }
    // For a page that answers, and a TeX that has room: what has more boxes is drawn again by
    // smaller limits.
    for (picture::DrawOptions options = options_.draw;; options.limits = smaller(options.limits)) {
      if (auto drawn = drawn_by(options)) return std::move(*drawn);
    }
  }

 private:
  struct Job {
    Span where;
    std::function<picture::Picture(const picture::DrawOptions&)> draw;
  };

  template <typename F>
  void add(F draw) {
    if (jobs_.size() == kMostPictures)
      fail("view", "more than " + std::to_string(kMostPictures) + " pictures are too much at once",
           where_);
    jobs_.push_back({where_, std::move(draw)});
  }

  static picture::Limits smaller(picture::Limits limits) {
    limits.cells = std::max(kFewestCells, limits.cells / 2);
    limits.side = static_cast<int>(std::sqrt(limits.cells));
    limits.line = std::max(kFewestCells, limits.line / 2);
    return limits;
  }

  // Nothing if that is too much, and can be less.
  std::optional<std::vector<picture::Picture>> drawn_by(const picture::DrawOptions& options) const {
    std::vector<picture::Picture> pictures;
    std::size_t boxes = 0;
    for (const Job& job : jobs_) {
      try {
        pictures.push_back(job.draw(options));
      } catch (const Refusal& refusal) {
        throw DiagnosticError(to_diagnostic(refusal, job.where, {}));
      }
      for (const picture::Panel& panel : pictures.back().panels)
        if (!panel.on_pages_only || !session_.options.for_tex) boxes += panel.boxes.size();
      if (boxes > options_.draw.limits.together() && options.limits.cells > kFewestCells)
        return std::nullopt;
    }
    return pictures;
  }

  // A name is drawn as the operation that made it: after `let R = A o B`, `show R` is headed
  // "R = A o B".
  void draw_expression(const Definition& definition, const std::string& title, const Value& value) {
    const auto result = layout_of(value);
    if (result && options_.view.empty() && !options_.tile) {
      Frame frame{definition.closure, frame_.locals};
      const std::string made =
          title_of(session_.sources.text(frame.tree()[definition.expression].span));
      if (const auto operation =
              operation_of(session_, frame, options_, definition.expression,
                           {made == title ? title : title + " = " + made, *result})) {
        bool known = ready(*result);
        for (const picture::Named& operand : operation->operands)
          known = known && ready(operand.layout);
        if (known)
          add([operation = *operation](const auto& options) {
            return draw_operation(operation, options);
          });
        return;
      }
    }
    draw_value(title, value);
  }

  void draw_value(const std::string& title, const Value& value) {
    if (value.is_unknown()) return;
    if (const auto layout = layout_of(value)) {
      if (ready(*layout)) add_layout({title, *layout});
    } else if (const auto* s = value.as<Swizzle>()) {
      add([title, s = *s](const auto& options) {
        return picture::draw_swizzle(title, s, options);
      });
    } else if (const auto* record = value.as<RecordPtr>()) {
      draw_record(title, *record);
    } else if (const auto* list = value.as<ListPtr>()) {
      for (std::size_t i = 0; i < (*list)->elements.size(); ++i)
        draw_value(title + "[" + std::to_string(i) + "]", (*list)->elements[i]);
    } else {
      fail("operand-kind",
           "show draws layouts, swizzles, records of them and tuples of these, not " +
               kind_name(value),
           where_, {}, {{"help", "print writes any value"}});
    }
  }

  void add_layout(const picture::Named& value) {
    const auto by = [&](auto draw) {
      add([value, draw](const auto& options) { return draw(value, options); });
    };
    if (options_.view == "line") return by(picture::draw_line);
    if (options_.view == "banks") return by(picture::draw_banks);
    if (options_.view == "grid" || (options_.view != "threads" && !options_.tile))
      return by(picture::draw_layout);
    if (!options_.tile && !picture::domain_of(value.layout).has_basis())
      fail("view", "a thread-value layout gives numbers, and nothing says of which tile", where_,
           {}, {{"help", "show ..., tile = (16,8)"}});
    add_threads(value, options_.tile ? *options_.tile : covered(value.layout));
  }

  void add_threads(const picture::Named& value, const Tuple& tile) {
    add([value, tile](const auto& options) { return picture::draw_threads(value, tile, options); });
  }

  // The tile that a layout into coordinates covers.
  Tuple covered(const AnyLayout& layout) {
    return coshape(session_.facts, picture::domain_of(layout));
  }

  static std::optional<picture::Operand>& operand_of(picture::MultiplyAdd& mma,
                                                     const std::string& name) {
    return name == "A" ? mma.a : name == "B" ? mma.b : mma.c;
  }

  void add_multiply_add(picture::MultiplyAdd mma) {
    add([mma = std::move(mma)](const auto& options) {
      return picture::draw_multiply_add(mma, options);
    });
  }

  // Draws the threads and values of a tiled copy or multiply-add on their tiles. Returns true if
  // the record is one.
  bool draw_tiled(const std::string& title, const RecordPtr& record) {
    if (!options_.view.empty()) return false;
    const auto field = [](const Record& of, const char* name) -> const Value& {
      static const Value nothing;
      const Value* found = of.find(name);
      return found ? *found : nothing;
    };
    const auto tv = layout_of(field(*record, "tv"));
    const auto* tile = field(*record, "tile").as<Tuple>();
    if (tv && tile && tile->is_known() && ready(*tv)) {
      add_threads({title + ".tv", *tv}, *tile);
      return true;
    }
    const auto* atom = field(*record, "atom").as<RecordPtr>();
    const auto* shape = field(*record, "shape").as<Tuple>();
    if (!atom || !layout_of(field(*record, "lanes")) || !shape || !shape->is_known()) return false;
    picture::MultiplyAdd mma{title, {}, {}, {}};
    bool drawn = false;
    for (const std::string operand : {"A", "B", "C"}) {
      const auto of_atom = layout_of(field(**atom, operand.c_str()));
      const auto* function = session_.prelude().find("layout_" + operand);
      if (!of_atom || is_shared(picture::domain_of(*of_atom)) || !function || !function->value)
        continue;
      const auto of_tile = layout_of(
          apply(session_, {*function->value, where_}, {{"", Value(record), where_}}, where_));
      if (!of_tile || !ready(*of_tile)) continue;
      operand_of(mma, operand) = picture::Operand{
          {"layout_" + operand + "(" + title + ")", *of_tile}, *operand_tile(operand, *shape)};
      drawn = true;
    }
    if (drawn) add_multiply_add(std::move(mma));
    return drawn;
  }

  // An atom's operands on their tiles, where the record says its shape as (m,n,k); else each layout
  // by itself.
  void draw_record(const std::string& title, const RecordPtr& pointer) {
    if (draw_tiled(title, pointer)) return;
    const Record& record = *pointer;
    const Value* shape = record.find("shape");
    const Tuple* mnk = shape ? shape->as<Tuple>() : nullptr;
    const bool atom = mnk && mnk->is_tuple() && mnk->rank() == 3 && mnk->is_known() &&
                      options_.view.empty() && record.find("C") != nullptr;
    picture::MultiplyAdd mma{title, {}, {}, {}};
    std::size_t layouts = 0;
    for (const auto& [name, value] : record.fields) {
      const auto layout = layout_of(value);
      if (!layout || !ready(*layout)) continue;
      ++layouts;
      const picture::Named named{title + "." + name, *layout};
      const auto tile = atom ? operand_tile(name, *mnk) : std::nullopt;
      if (!atom)
        add_layout(named);
      else if (tile && !is_shared(picture::domain_of(*layout)))
        operand_of(mma, name) = picture::Operand{named, *tile};
    }
    if (mma.a || mma.b || mma.c) add_multiply_add(std::move(mma));
    if (layouts == 0) fail("operand-kind", "there is no layout in " + title, where_);
  }

  // Several threads that all see the same: an operand in shared memory, of which no thread holds a
  // part.
  static bool is_shared(const Layout& tv) {
    if (tv.rank() != 2 || size(tv.shape[0]).is(1)) return false;
    const std::vector<Tuple> steps = leaves(tv[0].stride);
    return std::all_of(steps.begin(), steps.end(), [](const Tuple& d) { return d.is_literal(0); });
  }

  static std::optional<Tuple> operand_tile(const std::string& field, const Tuple& mnk) {
    if (field == "A") return tuple(mnk[0], mnk[2]);
    if (field == "B") return tuple(mnk[1], mnk[2]);
    if (field == "C") return tuple(mnk[0], mnk[1]);
    return std::nullopt;
  }

  // Returns true if all sizes are numbers. They may be missing in a check; a run names them.
  bool ready(const AnyLayout& layout) {
    const auto missing = exports::dims_of(std::visit(
        [](const auto& l) { return std::variant<Layout, Composed, Swizzle>(l); }, layout));
    if (missing.empty() || !session_.running()) return missing.empty();
    std::string names, sizes;
    for (const auto& [id, name] : missing) {
      names += (names.empty() ? "" : ", ") + name;
      sizes += ", " + name + " = 8";
    }
    fail("symbolic",
         to_string(layout) + " is drawn for numbers, and " + names +
             (missing.size() == 1 ? " is" : " are") + " not known",
         where_, {}, {{"help", "show ..." + sizes + "; or --set, where the dim is in a script"}});
  }

  Session& session_;
  Frame& frame_;
  const syntax::Show& show_;
  Span where_;
  ShowOptions options_;
  std::vector<Job> jobs_;
};

}  // namespace

std::vector<picture::Picture> draw(Session& session, Frame& frame, const syntax::Show& show,
                                   Span where) {
  return Drawing(session, frame, show, where).pictures();
}

}  // namespace lay::sema
