/* liblay: the compiler of Lay as a library, for C99, C++11 and later.
 *
 *   lay_context* context = lay_context_new(NULL);
 *   lay_program* program = NULL;
 *   lay_value* value = NULL;
 *   lay_program_new(context, NULL, &program);
 *   if (lay_program_evaluate(program, "(4,2):(1,4) o 2:4", NULL, 0, &value) == LAY_RESULT_OK)
 *     puts(lay_value_text(value));
 *   else
 *     fputs(lay_diagnostics_text(context), stderr);
 *   lay_value_free(value);
 *   lay_program_free(program);
 *   lay_context_free(context);
 *
 * Contexts share nothing that a caller can see but what lay_read_measured reads: any number of
 * threads may work, each with contexts of its own. A context, and what was made with it, is for one
 * thread at a time; a call from another one, or from a callback, returns LAY_RESULT_MISUSE. Only
 * lay_cancel is for any thread.
 *
 * No function prints, exits, throws or changes the process. All text is UTF-8. A text that a
 * function returns belongs to its object and lives as long; a text of the diagnostics until the
 * next call with their context. Objects may be freed in any order, and freeing NULL does nothing.
 * A function that returns text returns NULL for a NULL object and where memory lacks.
 *
 * Every struct begins with its `size`, which its user sets to sizeof the struct: later versions add
 * members at the end. Zero in all others is a meaning of its own, the usual one. */
#ifndef LAY_LAY_H
#define LAY_LAY_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LAY_API __attribute__((visibility("default")))
#else
#define LAY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: it counts up when a function changes its meaning. */
#define LAY_API_VERSION 1
LAY_API uint32_t lay_api_version(void);
/* The version of Lay: "0.1.0". */
LAY_API const char* lay_version(void);

typedef enum lay_result {
  LAY_RESULT_OK = 0,
  LAY_RESULT_ERROR = 1,      /* of the text or of what was asked: the diagnostics say which */
  LAY_RESULT_MISUSE = 2,     /* a NULL, a wrong size, a context in use: nothing was done */
  LAY_RESULT_CANCELLED = 3,  /* by lay_cancel */
  LAY_RESULT_TIME_LIMIT = 4, /* lay_options.seconds */
  LAY_RESULT_OUT_OF_MEMORY = 5,
  LAY_RESULT_UNAVAILABLE = 6, /* this machine lacks it: a GPU, a CUDA compiler */
  LAY_RESULT_INTERNAL = 7     /* a mistake in Lay: please report it with the diagnostics */
} lay_result;

typedef struct lay_context lay_context;
typedef struct lay_program lay_program;
typedef struct lay_value lay_value;
typedef struct lay_kernel lay_kernel;
typedef struct lay_plan lay_plan;
typedef struct lay_build lay_build;

/* ---- contexts ---- */

/* Where kernels run that a program calls. */
typedef enum lay_machine {
  LAY_MACHINE_ANY = 0, /* on the GPU if there is one that compiles */
  LAY_MACHINE_HOST = 1,
  LAY_MACHINE_GPU = 2
} lay_machine;

/* Receives the text of a file, in one piece or several. */
typedef struct lay_sink lay_sink;
LAY_API void lay_sink_write(lay_sink* sink, const char* text, size_t length);

typedef struct lay_options {
  uint32_t size;
  int32_t machine; /* a lay_machine */
  /* The most time that a call may take; 0: no limit. Asked for between steps, so that a call may
   * take some milliseconds more, or, while the CUDA compiler works, seconds. */
  double seconds;
  /* The most bytes of arrays that the context's programs and values hold at once; 0: 2^33. */
  int64_t array_bytes;
  /* Where `use "mine.lay"` finds files, and from where load and save find arrays; NULL: scripts
   * reach no file but those of `read`. */
  const char* folder;
  /* Given to the callbacks. */
  void* user;
  /* The text of the file that `use "NAME"` asks for, before `folder` is looked at. Returns 0 after
   * it wrote the text, and else lets `folder` have it. May be NULL. */
  int (*read)(void* user, const char* name, lay_sink* text);
  /* What a program prints, a line or several, without the last newline; NULL: dropped. */
  void (*print)(void* user, const char* text);
  /* Where a kernel ran and how long it took, a line each; NULL: dropped. */
  void (*log)(void* user, const char* line);
} lay_options;

/* NULL for the usual options. Returns NULL where memory lacks or `size` is of no version. */
LAY_API lay_context* lay_context_new(const lay_options* options);
LAY_API void lay_context_free(lay_context* context);

/* Ends the call that is in progress, which returns LAY_RESULT_CANCELLED; does nothing where none
 * is. For any thread and for signal handlers. */
LAY_API void lay_cancel(lay_context* context);

/* ---- diagnostics: what the last call with a context found ---- */

typedef enum lay_severity {
  LAY_SEVERITY_ERROR = 0,
  LAY_SEVERITY_WARNING = 1,
  LAY_SEVERITY_NOTE = 2
} lay_severity;

typedef struct lay_diagnostic {
  uint32_t size;
  lay_severity severity;
  const char* code;    /* "composition-carry": `lay help CODE` has its page */
  const char* message; /* one sentence */
  const char* file;    /* the name given to the text; "": nowhere */
  /* From 1, columns in characters; the end is behind the last character. 0: nowhere. */
  int32_t line, column, end_line, end_column;
  const char* text; /* whole, with the line of the script, as the command prints it */
  const char* json; /* whole, as `lay check --json` prints it */
} lay_diagnostic;

LAY_API size_t lay_diagnostic_count(const lay_context* context);
/* The diagnostic of that number, from 0. LAY_RESULT_MISUSE where there is none. */
LAY_API lay_result lay_diagnostic_get(const lay_context* context, size_t index,
                                      lay_diagnostic* diagnostic);
/* All of them, with an empty line between, and as an array; "" and "[]" where there are none. */
LAY_API const char* lay_diagnostics_text(const lay_context* context);
LAY_API const char* lay_diagnostics_json(const lay_context* context);

/* ---- programs: texts that share their names ---- */

/* A dim and its number: M = 4096. */
typedef struct lay_size {
  const char* name;
  int64_t value;
} lay_size;

typedef struct lay_program_options {
  uint32_t size;
  /* Not 0: arrays are not made and kernels not run; what only a run knows is unknown, and every
   * obligation is proved, refuted or left to a guard, as `lay check` does. */
  int32_t check;
  /* Dims that are known. */
  const lay_size* sizes;
  size_t size_count;
} lay_program_options;

/* NULL for the usual options. */
LAY_API lay_result lay_program_new(lay_context* context, const lay_program_options* options,
                                   lay_program** program);
LAY_API void lay_program_free(lay_program* program);

/* Evaluates a text, whose names stay in force. `name` is what diagnostics call it. A statement that
 * fails does not hide the next; LAY_RESULT_ERROR where one failed. */
LAY_API lay_result lay_program_run(lay_program* program, const char* name, const char* text,
                                   size_t length);

/* The statements of the last text that was run, as an array:
 *
 *   {"line":1,"column":1,"ok":true,"names":["a"],"value":{"kind":"layout",...},
 *    "findings":[{"kind":"verdict","verdict":"proved",...}]}
 *
 * `value` is in the forms of lay_value_json, without those of arrays' elements; there is none of a
 * statement that has no value. The text is valid until the next text is run. `findings` are
 * verdicts on claims and obligations, in the form of `lay check --json`. */
LAY_API const char* lay_program_statements_json(lay_program* program);

/* A name and what it stands for. */
typedef struct lay_binding {
  const char* name;
  const lay_value* value;
} lay_binding;

/* The value of one expression, in which the `count` names of `bindings` stand for their values; for
 * these a name of the program counts no more. Nothing stays in force. */
LAY_API lay_result lay_program_evaluate(lay_program* program, const char* expression,
                                        const lay_binding* bindings, size_t count,
                                        lay_value** value);

/* The verdict on a claim, as `prove` gives it, with names as in lay_program_evaluate:
 *
 *   {"verdict":"refuted","claim":"M % 8 == 0","witness":{"M":1},"decided_by":[],"text":"error..."}
 *
 * `verdict` is proved, refuted or undecided; `witness` the smallest counterexample, `decided_by`
 * assumptions of which each would decide the claim, `text` what `lay` prints of a refuted one.
 * LAY_RESULT_OK for each of the three. The text is valid until the next call with the program. */
LAY_API lay_result lay_program_prove(lay_program* program, const char* claim,
                                     const lay_binding* bindings, size_t count, const char** json);

/* The picture of an expression, as `show` draws it, in a form: "text", "svg", "png", "html" or
 * "tex". Words of `show` may stand behind the expression: "A, banks". The bytes, with a zero behind
 * them, are valid until the next call with the program. */
LAY_API lay_result lay_program_show(lay_program* program, const char* expression,
                                    const lay_binding* bindings, size_t count, const char* form,
                                    const char** picture, size_t* bytes);

/* Gives a value a name that stays in force, as `let` does. */
LAY_API lay_result lay_program_define(lay_program* program, const char* name,
                                      const lay_value* value);

/* Answers a line as `lay eval` does: `number` is the line's for diagnostics. The text is valid
 * until the next call with the program. LAY_RESULT_OK where the answer has "ok":true. */
LAY_API lay_result lay_program_answer(lay_program* program, const char* line, int32_t number,
                                      const char** json);

/* ---- values ---- */

LAY_API void lay_value_free(lay_value* value);

/* "int", "tuple", "layout", "swizzle", "composed", "bool", "real", "string", "array", ... */
LAY_API const char* lay_value_kind(lay_value* value);
/* Lay text that reads back to the same value. */
LAY_API const char* lay_value_text(lay_value* value);
/* An object: kind, text and what belongs to the kind; `guards` are conditions under which the value
 * is right, where there are some. docs/language.md lists the forms under `lay eval`. */
LAY_API const char* lay_value_json(lay_value* value);

/* The number; LAY_RESULT_MISUSE for what is no integer of a known value. */
LAY_API lay_result lay_value_to_integer(const lay_value* value, int64_t* number);
/* The number, of an integer too. */
LAY_API lay_result lay_value_to_real(const lay_value* value, double* number);

LAY_API lay_result lay_value_of_integer(lay_context* context, int64_t number, lay_value** value);
LAY_API lay_result lay_value_of_real(lay_context* context, double number, lay_value** value);
LAY_API lay_result lay_value_of_string(lay_context* context, const char* string, lay_value** value);

/* An array in row-major order, the last index fastest; a rank of 0 is one number. */
typedef struct lay_array {
  uint32_t size;
  int32_t rank;
  const char* element; /* "f32", "bf16", "s8", ...; "pred", "s4" and "u4" are a byte an element */
  const int64_t* shape;
  const void* data;
  int64_t bytes; /* of data: what lay_value_of_array checks, and lay_value_to_array says */
} lay_array;

/* Copies the elements. */
LAY_API lay_result lay_value_of_array(lay_context* context, const lay_array* array,
                                      lay_value** value);
/* The elements themselves, valid as long as the value; LAY_RESULT_MISUSE for what is no array. */
LAY_API lay_result lay_value_to_array(const lay_value* value, lay_array* array);

/* ---- kernels ---- */

/* The kernels of a program, in order; "" beyond the last. */
LAY_API size_t lay_kernel_count(const lay_program* program);
LAY_API const char* lay_kernel_name(lay_program* program, size_t index);

/* A kernel with the schedules that it has by now; NULL names the only one. */
LAY_API lay_result lay_kernel_new(lay_program* program, const char* name, lay_kernel** kernel);
LAY_API void lay_kernel_free(lay_kernel* kernel);

/* An object: name, sizes, tensors, scalars, the signature's order and the guards, in the forms of
 * the manifest of `lay build`. */
LAY_API const char* lay_kernel_json(lay_kernel* kernel);

/* Runs the kernel where lay_options.machine says. Arguments are arrays and numbers in the order of
 * the signature, without outputs that are not read; sizes that no array fixes may be given.
 * `outputs` receives a value for each output, of which there must be `output_count`. */
LAY_API lay_result lay_kernel_run(lay_kernel* kernel, const lay_value* const* arguments,
                                  size_t argument_count, const lay_size* sizes, size_t size_count,
                                  lay_value** outputs, size_t output_count);

/* ---- plans ---- */

/* The plan for a GPU by its name or architecture, "h200", "sm_90a"; NULL: the default. */
LAY_API lay_result lay_plan_new(lay_kernel* kernel, const char* target, lay_plan** plan);
LAY_API void lay_plan_free(lay_plan* plan);

/* The complete schedules as Lay text, with their predictions as comments: `lay plan --all`. */
LAY_API const char* lay_plan_text(lay_plan* plan);

LAY_API size_t lay_plan_variant_count(const lay_plan* plan);
/* NULL beyond the last. */
LAY_API const char* lay_plan_variant_name(lay_plan* plan, size_t variant);

/* The variant that a launch of these sizes takes where every pointer is aligned. A size of the name
 * "" counts for all others. */
LAY_API lay_result lay_plan_choose(lay_plan* plan, const lay_size* sizes, size_t size_count,
                                   size_t* variant);

/* The least time that the variant takes by its forecast, in seconds, and what bounds it. `bound`
 * may be NULL; its text is the plan's. LAY_RESULT_ERROR where there is no forecast. */
LAY_API lay_result lay_plan_forecast(lay_plan* plan, size_t variant, const lay_size* sizes,
                                     size_t size_count, double* seconds, const char** bound);

/* The launches of a variant, in order; most often one. */
LAY_API lay_result lay_plan_launch_count(lay_plan* plan, size_t variant, size_t* launches);
/* One launch as CUDA C++. */
LAY_API lay_result lay_plan_source(lay_plan* plan, size_t variant, size_t launch,
                                   const char** text);
/* One launch compiled: a cubin. LAY_RESULT_UNAVAILABLE where there is no CUDA compiler. */
LAY_API lay_result lay_plan_image(lay_plan* plan, size_t variant, size_t launch, const void** image,
                                  size_t* bytes);

/* ---- launchers: kernels on memory of a device ----
 *
 *   lay_launcher_new(kernel, 0, &launcher);
 *   lay_launcher_prepare(launcher, tensors, 3, NULL, 0, &workspace_bytes);    the shape of outputs
 *   lay_launcher_launch(launcher, tensors, 3, NULL, 0, NULL, 0, workspace, bytes, stream);
 *
 * A launcher works in the device's primary context, and leaves current in the calling thread what
 * was current before. */

/* A tensor in the device's memory, or one that is not there yet. Elements of 4 bits lie two to a
 * byte, the first one in the low bits. Their tensor may be given as one of bytes, "u8", which then
 * has half as many along the axis of stride 1. */
typedef struct lay_tensor {
  uint32_t size;
  int32_t rank;
  const char* element;    /* "f32": the kernel's, or raw bits of that width, "b16" or "u16" */
  const int64_t* shape;   /* NULL: an output that is not made yet */
  const int64_t* strides; /* in elements; NULL: row-major */
  void* address;
} lay_tensor;

typedef struct lay_launcher lay_launcher;

/* The kernel on the device of that number: planned for it, and compiled variant by variant, each
 * when it is taken first. LAY_RESULT_UNAVAILABLE where there is no such GPU or no CUDA compiler. */
LAY_API lay_result lay_launcher_new(lay_kernel* kernel, int32_t device, lay_launcher** launcher);
LAY_API void lay_launcher_free(lay_launcher* launcher);

/* Makes a launch on these tensors ready, one for each of the kernel in its order
 * (lay_kernel_json): solves the sizes, where `sizes` gives those that no tensor fixes, checks the
 * guards, chooses a variant and compiles it. Of each output without a shape it fills in rank,
 * element, shape and strides, which are the launcher's until it fills in others; an address of NULL
 * counts as aligned. A launch needs `workspace` bytes, aligned to 128. */
LAY_API lay_result lay_launcher_prepare(lay_launcher* launcher, lay_tensor* tensors, size_t count,
                                        const lay_size* sizes, size_t size_count,
                                        int64_t* workspace);

/* Launches on the stream, a CUstream or cudaStream_t, and returns before the launch is done.
 * Scalars come in the signature's order. No memory of the device is allocated, and into a stream
 * that is being captured nothing is loaded where the same tensors were prepared before. */
LAY_API lay_result lay_launcher_launch(lay_launcher* launcher, const lay_tensor* tensors,
                                       size_t count, const lay_size* sizes, size_t size_count,
                                       const lay_value* const* scalars, size_t scalar_count,
                                       void* workspace, int64_t workspace_bytes, void* stream);
/* The name of the variant that the last call took; "" before the first. */
LAY_API const char* lay_launcher_variant(const lay_launcher* launcher);

/* ---- tuning: what `lay tune` does ---- */

typedef struct lay_tune_options {
  uint32_t size;
  int32_t device; /* a CUDA ordinal */
  /* Schedules that are timed, how often each is, and for how long each time; 0: 8, 5 and 50. */
  int32_t candidates;
  int32_t rounds;
  double milliseconds;
} lay_tune_options;

/* Times the schedules of a matrix product that the cost model ranks first beside the default, at
 * these sizes and for sizes of their class, each within a factor of about 1.5; for these alone
 * where the default is faster at an end of the class. Each is checked on the device before it is
 * timed. The fastest, if it is 1 % faster than the default, is what plans and launchers take that
 * are made of this kernel from here on, before its own schedules; those of several tunings stand
 * beside each other. NULL options are those of a zeroed struct.
 *
 *   {"kernel":"linear","device":"NVIDIA H200","sizes":{"M":4096,"N":4096,"K":4096},"why":"",
 *    "timed":[{"schedule":"","variant":"sm90_128x256","microseconds":196.5,
 *              "predicted_microseconds":190.1,"spread":0.01},...],
 *    "is_faster":true,"schedules":"use atoms.sm90\n\nschedule linear for sm90 when ..."}
 *
 * `timed` are those that were timed last beside each other, the default with an empty `schedule`;
 * `why` says why none was. `schedules` is the text of all tunings of the kernel: beside a script
 * `linear.lay`, in `linear.tuned.lay`, `lay` plans with it. The text is valid until the next tuning
 * of the kernel. What is timed goes to lay_options.log as it is known. LAY_RESULT_UNAVAILABLE
 * without a GPU. */
LAY_API lay_result lay_kernel_tune(lay_kernel* kernel, const lay_tune_options* options,
                                   const lay_size* sizes, size_t size_count, const char** json);

/* ---- what was measured on this machine ---- */

/* Has plans and launchers that are made from here on use what `lay tune` and `lay calibrate` keep
 * for the user, as the command does whenever it starts: schedules of the folder `policies`, numbers
 * of GPUs of the folder `targets`. NULL is the folder that the command reads ($LAY_POLICIES and
 * $LAY_TARGETS, else lay/policies and lay/targets of $XDG_DATA_HOME, else of ~/.local/share); of ""
 * nothing is read. What was read before from a folder of the same kind counts no more. What is
 * wrong with a file is said by a warning, and the file is ignored. All contexts of the process see
 * what was read. */
LAY_API lay_result lay_read_measured(lay_context* context, const char* policies,
                                     const char* targets);

/* ---- builds: what `lay build` writes, in memory ---- */

typedef struct lay_build_options {
  uint32_t size;
  /* Not 0: a bundle too, with functions whose names begin with `prefix`. */
  int32_t bundle;
  const char* prefix;
  /* "linear.lay": the name of the script, of which those of files are made; NULL: "kernels.lay". */
  const char* script;
  /* Architectures, "sm_80", "sm_90a"; none: that of the GPU at hand, else these two. */
  const char* const* archs;
  size_t arch_count;
  /* The only kernel; NULL: all. */
  const char* kernel;
  /* The most variants of a kernel; 0: 12. */
  size_t most;
  /* Not 0: no images. */
  int32_t source_only;
} lay_build_options;

/* Builds the kernels of a program. Warnings are among the diagnostics of a success. */
LAY_API lay_result lay_build_new(lay_program* program, const lay_build_options* options,
                                 lay_build** build);
LAY_API void lay_build_free(lay_build* build);
LAY_API size_t lay_build_file_count(const lay_build* build);
/* The file's name and contents; NULL beyond the last. */
LAY_API const char* lay_build_file_name(const lay_build* build, size_t file);
LAY_API const void* lay_build_file_data(const lay_build* build, size_t file, size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif /* LAY_LAY_H */
