/* A product from a bundle: its guards and workspace without a GPU, and with one right in a graph,
 * on streams and from threads. tests/embed/gpu/run.sh builds it. */
#include "flow.h"
#include "product.h"

static product_args arguments(const problem* of) {
  product_args args;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.M = of->M;
  args.N = of->N;
  args.K = of->K;
  args.A = of->A;
  args.B = of->B;
  args.C = of->C;
  return args;
}

static int64_t workspace(void* self, const problem* of) {
  const product_args args = arguments(of);
  lay_message why;
  int64_t bytes = 0;
  (void)self;
  if (product_workspace(&args, &bytes, &why) == LAY_OK) return bytes;
  fprintf(stderr, "%s\n", why.text);
  return -1;
}

static int launch(void* self, const problem* of, device_stream stream) {
  const product_args args = arguments(of);
  lay_message why;
  const lay_status status = product_launch(&args, of->workspace, of->workspace_bytes, stream, &why);
  (void)self;
  if (status != LAY_OK) fprintf(stderr, "%s\n", why.text);
  return (int)status;
}

/* What the launcher answers without a GPU. The addresses are of memory that nobody reads. */
static void ask(void) {
  problem of;
  product_args args;
  lay_message why;
  int64_t bytes = 0;
  memset(&of, 0, sizeof of);
  of.M = 304;
  of.N = 256;
  of.K = 4090;
  of.A = (void*)(uintptr_t)0x100000000;
  of.B = (void*)(uintptr_t)0x200000000;
  of.C = (void*)(uintptr_t)0x300000000;
  args = arguments(&of);
  printf("status %-3d  ", (int)product_check(&args, &why));
  printf("%s\n", why.text);
  args.K = 4092;
  printf("status %-3d  ", (int)product_workspace(&args, &bytes, &why));
  printf("workspace %d\n", (int)bytes);
  args.C = (void*)(uintptr_t)0x100000100;
  printf("status %-3d  ", (int)product_check(&args, &why));
  printf("%s\n", why.text);
}

int main(void) {
  driver on;
  program by;
  lay_message why;
  const char* lacks;
  int code;
  ask();
  lacks = driver_open(&on);
  if (lacks) {
    printf("no GPU      %s\n", lacks);
    return 0;
  }
  if (product_prepare(0, &why) != LAY_OK) {
    fprintf(stderr, "%s\n", why.text);
    return 1;
  }
  memset(&by, 0, sizeof by);
  by.on = &on;
  by.workspace = workspace;
  by.launch = launch;
  code = run(&by);
  product_unload();
  return code;
}
