/* For tests/bench/bundle.py: what a launch costs the thread that makes it, in all and in the
 * driver's call. */
#include "layer.c"

#include <time.h>

static double in_driver; /* seconds */
static int (*driver_launch)(const lay_configuration*, void*, void**, void**);

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static int timed_launch(const lay_configuration* what, void* kernel, void** values, void** extra) {
  const double begin = now();
  const int status = driver_launch(what, kernel, values, extra);
  in_driver += now() - begin;
  return status;
}

/* Seconds a launch, of `count`; negative where one failed. */
double dense_seconds(const dense_args* args, void* workspace, int64_t bytes, lay_stream stream,
                     int count);
double dense_seconds(const dense_args* args, void* workspace, int64_t bytes, lay_stream stream,
                     int count) {
  const double begin = now();
  int i;
  for (i = 0; i < count; ++i)
    if (dense_launch(args, workspace, bytes, stream, NULL) != LAY_OK) return -1;
  return (now() - begin) / count;
}

/* Of those the seconds in cuLaunchKernelEx; the clock is read twice more a launch. */
double dense_driver_seconds(const dense_args* args, void* workspace, int64_t bytes,
                            lay_stream stream, int count);
double dense_driver_seconds(const dense_args* args, void* workspace, int64_t bytes,
                            lay_stream stream, int count) {
  double all;
  driver_launch = lay_driver.launch;
  lay_driver.launch = timed_launch;
  in_driver = 0;
  all = dense_seconds(args, workspace, bytes, stream, count);
  lay_driver.launch = driver_launch;
  return all < 0 ? all : in_driver / count;
}
