/* Stands between a program and its files: writes a trace of every change, and fails on demand.
 *
 *   SHIM_ROOT   folder whose files are watched (absolute)
 *   SHIM_TRACE  file that gets the trace (not of files ending in -shm, which no crash survives)
 *
 * A program switches failures on and off itself, through ctypes: shim_fail, shim_clear, shim_seen.
 * One lock is held over each real call and its line in the trace, so the trace is the order in
 * which the files changed. Built by tests/faults/shim.py; the trace is read by tests/faults/disk.py.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define FDS 4096

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static char *paths[FDS]; /* of watched open files and folders */
static int trace = -1;
static const char *root;
static size_t root_length;

/* ---- failures on demand ---------------------------------------------------------------------- */

static char fail_ops[16], fail_where[256];
static long fail_after, fail_times, fail_partial, seen;
static int fail_errno;

/* Calls of the kinds in `ops` (O W S T U R L, K for an exclusive and k for a shared lock) on paths that end in `where` fail with `error`: the
 * first `after` of them still work, then `times` fail (below zero: all). The first write that is to
 * fail writes `partial` bytes, if that is above zero. */
void shim_fail(const char *ops, const char *where, long after, int error, long times, long partial) {
    pthread_mutex_lock(&turn);
    strncpy(fail_ops, ops, sizeof fail_ops - 1);
    strncpy(fail_where, where, sizeof fail_where - 1);
    fail_after = after, fail_times = times, fail_partial = partial, fail_errno = error, seen = 0;
    pthread_mutex_unlock(&turn);
}

void shim_clear(void) { shim_fail("", "", 0, 0, 0, 0); }

/* How many calls the plan has met. */
long shim_seen(void) { return seen; }

static int ends_in(const char *path, const char *end) {
    size_t a = strlen(path), b = strlen(end);
    return a >= b && strcmp(path + a - b, end) == 0;
}

static int fails(char op, const char *path) {
    if (!path || !strchr(fail_ops, op) || !fail_ops[0] || !ends_in(path, fail_where)) return 0;
    long place = seen++ - fail_after;
    return place >= 0 && (fail_times < 0 || place < fail_times);
}

/* ---- the trace ------------------------------------------------------------------------------- */

struct line {
    uint8_t op, created;
    uint16_t path_length;
    uint32_t data_length;
    uint64_t file, offset;
};

static void put(const void *data, size_t length) {
    const char *at = data;
    while (length) {
        long done = syscall(SYS_write, trace, at, length);
        if (done <= 0) abort();
        at += done, length -= (size_t)done;
    }
}

static void tell(char op, int created, uint64_t file, uint64_t offset, const char *path,
                 const void *data, size_t length) {
    if (trace < 0 || (path && ends_in(path, "-shm"))) return;
    struct line line = {(uint8_t)op, (uint8_t)created, (uint16_t)(path ? strlen(path) : 0),
                        (uint32_t)length, file, offset};
    put(&line, sizeof line);
    if (path) put(path, line.path_length);
    if (length) put(data, length);
}

__attribute__((constructor)) static void start(void) {
    root = getenv("SHIM_ROOT");
    root_length = root ? strlen(root) : 0;
    const char *name = getenv("SHIM_TRACE");
    if (!name) return;
    int low = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    trace = (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, 900);
    syscall(SYS_close, low);
}

static void begin(void) { pthread_mutex_lock(&turn); }

static void end(void) {
    int error = errno;
    pthread_mutex_unlock(&turn);
    errno = error;
}

static int watched(const char *path) {
    return root && path && strncmp(path, root, root_length) == 0 &&
           (path[root_length] == '/' || path[root_length] == 0);
}

static const char *path_of(int fd) { return fd >= 0 && fd < FDS ? paths[fd] : NULL; }

static uint64_t file_of(int fd) {
    struct stat about;
    return fstat(fd, &about) ? 0 : (uint64_t)about.st_ino;
}

static int is_folder(int fd) {
    struct stat about;
    return !fstat(fd, &about) && S_ISDIR(about.st_mode);
}

static int failed(int error) {
    errno = error;
    return -1;
}

/* ---- open and close -------------------------------------------------------------------------- */

static int opened(const char *path, int flags, mode_t mode) {
    if (!watched(path)) return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    begin();
    int fd = -1;
    int fresh = (flags & O_CREAT) && access(path, F_OK) != 0;
    if (fails('O', path)) {
        failed(fail_errno);
    } else if ((fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode)) >= 0 && fd < FDS) {
        free(paths[fd]);
        paths[fd] = strdup(path);
        if (!is_folder(fd)) {
            tell('O', fresh, file_of(fd), 0, path, NULL, 0);
            if (flags & O_TRUNC) tell('T', 0, file_of(fd), 0, path, NULL, 0);
        }
    }
    end();
    return fd;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        return opened(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int close(int fd) {
    if (path_of(fd)) {
        begin();
        free(paths[fd]);
        paths[fd] = NULL;
        end();
    }
    return (int)syscall(SYS_close, fd);
}

/* ---- changes of a file ----------------------------------------------------------------------- */

static ssize_t written(int fd, const void *data, size_t length, off_t at) {
    ssize_t done;
    begin();
    const char *path = path_of(fd);
    int fail = fails('W', path);
    if (fail && fail_partial > 0 && (size_t)fail_partial < length) {
        length = (size_t)fail_partial; /* a torn write; the next one fails */
        fail_partial = fail = 0;
    }
    if (fail) {
        done = failed(fail_errno);
    } else {
        done = at < 0 ? syscall(SYS_write, fd, data, length)
                      : syscall(SYS_pwrite64, fd, data, length, at);
        if (done > 0 && path) {
            uint64_t offset = (uint64_t)(at < 0 ? lseek(fd, 0, SEEK_CUR) - done : at);
            tell('W', 0, file_of(fd), offset, path, data, (size_t)done);
        }
    }
    end();
    return done;
}

ssize_t write(int fd, const void *data, size_t length) {
    if (!path_of(fd)) return syscall(SYS_write, fd, data, length);
    return written(fd, data, length, -1);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
    if (!path_of(fd)) return syscall(SYS_pwrite64, fd, data, length, at);
    return written(fd, data, length, at);
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t at) {
    return pwrite(fd, data, length, at);
}

int ftruncate(int fd, off_t length) {
    const char *path = path_of(fd);
    if (!path) return (int)syscall(SYS_ftruncate, fd, length);
    begin();
    int done = fails('T', path) ? failed(fail_errno) : (int)syscall(SYS_ftruncate, fd, length);
    if (!done) tell('T', 0, file_of(fd), (uint64_t)length, path, NULL, 0);
    end();
    return done;
}

int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

/* A flush that fails has flushed nothing, and the system forgets that there was something to flush:
 * the next one will find nothing to do. */
static int flushed(int fd, long call) {
    const char *path = path_of(fd);
    if (!path) return (int)syscall(call, fd);
    begin();
    int fail = fails('S', path);
    int done = fail ? failed(fail_errno) : (int)syscall(call, fd);
    int folder = is_folder(fd);
    tell(fail ? 'X' : folder ? 'D' : 'S', 0, folder ? 0 : file_of(fd), 0, path, NULL, 0);
    end();
    return done;
}

int fsync(int fd) { return flushed(fd, SYS_fsync); }

int fdatasync(int fd) { return flushed(fd, SYS_fdatasync); }

/* ---- changes of names ------------------------------------------------------------------------ */

static int named(char op, const char *from, const char *to) {
    if (op == 'R') return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
    return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

static int renamed(char op, const char *from, const char *to) {
    if (!watched(from) && !watched(to)) return named(op, from, to);
    begin();
    int done = fails(op, to) ? failed(fail_errno) : named(op, from, to);
    if (!done) tell(op, 0, 0, 0, from, to, strlen(to));
    end();
    return done;
}

int rename(const char *from, const char *to) { return renamed('R', from, to); }

int link(const char *from, const char *to) { return renamed('L', from, to); }

int unlink(const char *path) {
    if (!watched(path)) return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    begin();
    int done = fails('U', path) ? failed(fail_errno) : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (!done) tell('U', 0, 0, 0, path, NULL, 0);
    end();
    return done;
}

/* ---- locks ----------------------------------------------------------------------------------- */

static int controlled(int fd, int command, void *argument) {
    const char *path = path_of(fd);
    if (path && (command == F_SETLK || command == F_SETLKW)) {
        int kind = ((struct flock *)argument)->l_type;
        begin();
        int fail = kind != F_UNLCK && fails(kind == F_WRLCK ? 'K' : 'k', path);
        if (fail) failed(fail_errno);
        end();
        if (fail) return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

#define FCNTL(name) \
    int name(int fd, int command, ...) { \
        va_list rest; \
        va_start(rest, command); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        return controlled(fd, command, argument); \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
