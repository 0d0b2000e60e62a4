import { execFileSync } from 'node:child_process'
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A server whose time of day can be stepped while it runs. */
export interface ServerClock {
  /** The program to run in place of redis-server. */
  readonly server: string
  /** Sets how far its clock is beside the true time. */
  step(ms: number): void
}

// The library reads the offset from a file that both processes map, and adds it to the time of day. The monotonic clock
// stays as it is.
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t none, *offset;
static int64_t offset_ms(void) {
  if (!offset) {
    const char *path = getenv("KEYSPEC_CLOCK");
    int file = path ? open(path, O_RDONLY) : -1;
    void *mapped = file < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    offset = mapped == MAP_FAILED ? &none : mapped;
  }
  return *offset;
}
static void shift(int64_t *seconds, int64_t *nanoseconds) {
  int64_t ms = offset_ms();
  *seconds += ms / 1000;
  *nanoseconds += ms % 1000 * 1000000;
  if (*nanoseconds < 0) { *nanoseconds += 1000000000; *seconds -= 1; }
  if (*nanoseconds >= 1000000000) { *nanoseconds -= 1000000000; *seconds += 1; }
}
int clock_gettime(clockid_t clock, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(clock, at);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    int64_t seconds = at->tv_sec, nanoseconds = at->tv_nsec;
    shift(&seconds, &nanoseconds);
    at->tv_sec = seconds;
    at->tv_nsec = nanoseconds;
  }
  return failed;
}
int gettimeofday(struct timeval *at, void *zone) {
  (void)zone;
  struct timespec now;
  int failed = clock_gettime(CLOCK_REALTIME, &now);
  if (!failed && at) { at->tv_sec = now.tv_sec; at->tv_usec = now.tv_nsec / 1000; }
  return failed;
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
`

/** Compiles the library into a folder with `cc`, or says why it cannot. */
export function compileClock(folder: string): ServerClock | { readonly skipped: string } {
  if (process.platform !== 'linux') return { skipped: 'stepping the server clock needs Linux' }
  const [source, library, offset, server] = ['clock.c', 'clock.so', 'offset', 'server'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string]
  writeFileSync(source, SOURCE)
  writeFileSync(offset, Buffer.alloc(8))
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], { stdio: 'pipe' })
  } catch {
    return { skipped: 'stepping the server clock needs a C compiler, `cc`' }
  }
  const run = 'exec "$(command -v redis-server || command -v valkey-server)" "$@"'
  const script = `#!/bin/sh\nexport KEYSPEC_CLOCK='${offset}' LD_PRELOAD='${library}'\n${run}\n`
  writeFileSync(server, script, { mode: 0o700 })
  return {
    server,
    step(ms) {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64LE(BigInt(ms))
      const file = openSync(offset, 'r+')
      writeSync(file, bytes)
      closeSync(file)
    },
  }
}
