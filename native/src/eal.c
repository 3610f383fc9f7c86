/* SPDX-License-Identifier: Apache-2.0 */
/* EAL start and stop without its habits: pinning the caller, printing, and starting twice. */
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_log.h>

#include "internal.h"

/* Enough for the lines of one failed start; older text falls out. */
#define LOG_BYTES (32 * 1024)

static struct {
    pthread_mutex_t lock;
    char text[LOG_BYTES];
    uint64_t written; /* bytes since the last clear */
    FILE *stream;
} dpdk_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_bool started;
static atomic_bool running;

static ssize_t log_write(void *cookie, const char *data, size_t length)
{
    (void)cookie;
    pthread_mutex_lock(&dpdk_log.lock);
    for (size_t i = 0; i < length; i++) {
        dpdk_log.text[dpdk_log.written++ % LOG_BYTES] = data[i];
    }
    pthread_mutex_unlock(&dpdk_log.lock);
    return (ssize_t)length;
}

static int log_open(void)
{
    if (dpdk_log.stream == NULL) {
        cookie_io_functions_t functions = {.write = log_write};
        dpdk_log.stream = fopencookie(NULL, "w", functions);
        if (dpdk_log.stream == NULL) {
            return -ENOMEM;
        }
        setvbuf(dpdk_log.stream, NULL, _IONBF, 0);
    }
    /* A stream of our own takes precedence over the one to stderr and syslog that EAL opens. */
    return rte_openlog_stream(dpdk_log.stream) == 0 ? 0 : -EINVAL;
}

HXB_API int hxb_eal_log(char *text, int capacity)
{
    if (text == NULL || capacity <= 0) {
        return -EINVAL;
    }
    pthread_mutex_lock(&dpdk_log.lock);
    uint64_t kept = dpdk_log.written < LOG_BYTES ? dpdk_log.written : LOG_BYTES;
    uint64_t length = kept < (uint64_t)capacity - 1 ? kept : (uint64_t)capacity - 1;
    for (uint64_t i = 0; i < length; i++) {
        text[i] = dpdk_log.text[(dpdk_log.written - length + i) % LOG_BYTES];
    }
    pthread_mutex_unlock(&dpdk_log.lock);
    text[length] = '\0';
    return (int)length;
}

HXB_API void hxb_eal_log_clear(void)
{
    pthread_mutex_lock(&dpdk_log.lock);
    dpdk_log.written = 0;
    pthread_mutex_unlock(&dpdk_log.lock);
}

/* Arguments upon which EAL prints its usage and calls exit(). */
static bool leaves_process(const char *arg)
{
    static const char help[] = "--help";
    const char *value = strchr(arg, '=');
    size_t n = strlen(arg);

    /* Short ones stand behind each other, up to one that has the rest for its value; EAL goes on behind one that it does
     * not know. */
    if (arg[0] == '-' && arg[1] != '-' && arg[1 + strcspn(arg + 1, "abcdlmnrsSh")] == 'h') {
        return true;
    }
    /* Long ones may be cut short. */
    return strncmp(arg, "-v", 2) == 0 || strcmp(arg, "--version") == 0 ||
           (n > 3 && n < sizeof(help) && strncmp(arg, help, n) == 0) ||
           (strncmp(arg, "--lo", 4) == 0 && value != NULL && strcmp(value, "=help") == 0) || strcmp(arg, "help") == 0;
}

static bool chooses_cores(const char *arg)
{
    return strncmp(arg, "-l", 2) == 0 || strncmp(arg, "-c", 2) == 0 ||
           strncmp(arg, "--lcores", 8) == 0;
}

static int first_cpu(const cpu_set_t *cpus)
{
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, cpus)) {
            return cpu;
        }
    }
    return 0;
}

/*
 * Copies argv (EAL reorders it, and DPDK keeps pointers into it) and adds the lcore choice. The
 * copy stays for the life of the process.
 */
static int copy_arguments(int argc, const char *const *argv, const cpu_set_t *cpus, char ***out)
{
    char **copy = calloc((size_t)argc + 3, sizeof(char *));
    bool cores = false;
    int n = 0;

    if (copy == NULL) {
        return -ENOMEM;
    }
    for (; n < argc; n++) {
        if (argv[n] == NULL || leaves_process(argv[n])) {
            goto refuse;
        }
        cores = cores || chooses_cores(argv[n]);
        copy[n] = strdup(argv[n]);
        if (copy[n] == NULL) {
            goto refuse;
        }
    }
    if (!cores) {
        char lcores[32];
        /* lcore 0 on that CPU: CPU numbers may exceed DPDK's greatest lcore number. */
        snprintf(lcores, sizeof(lcores), "--lcores=0@%d", first_cpu(cpus));
        copy[n] = strdup(lcores);
        if (copy[n] == NULL) {
            goto refuse;
        }
        n++;
    }
    *out = copy;
    return n;

refuse:
    for (int i = 0; i < n; i++) {
        free(copy[i]);
    }
    free(copy);
    return -EINVAL;
}

/*
 * Removes the empty directories, beside ours, of processes that were killed while EAL started: those
 * named <prefix>-<pid> as ours is, whose process does not exist.
 */
static void sweep_runtime_dirs(const char *own)
{
    const char *name = strrchr(own, '/');
    const char *dash = name != NULL ? strrchr(name, '-') : NULL;
    char parent[PATH_MAX];

    if (dash == NULL || dash[1] == '\0' || dash[1 + strspn(dash + 1, "0123456789")] != '\0') {
        return;
    }
    name++;
    snprintf(parent, sizeof(parent), "%.*s", (int)(name - own), own);
    DIR *d = opendir(parent);
    if (d == NULL) {
        return;
    }
    size_t prefix = (size_t)(dash + 1 - name);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        const char *digits = e->d_name + prefix;
        if (strncmp(e->d_name, name, prefix) != 0 || digits[0] == '\0' ||
            digits[strspn(digits, "0123456789")] != '\0') {
            continue;
        }
        long pid = strtol(digits, NULL, 10);
        if (pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) < 0 && errno == ESRCH) {
            unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
        }
    }
    closedir(d);
}

HXB_API int hxb_eal_init(int argc, const char *const *argv)
{
    cpu_set_t before;
    char **copy;
    int n;

    if (argc < 1 || argv == NULL) {
        return -EINVAL;
    }
    int error = pthread_getaffinity_np(pthread_self(), sizeof(before), &before);
    if (error != 0) {
        return -error;
    }
    if (atomic_exchange(&started, true)) {
        return -EALREADY;
    }
    n = copy_arguments(argc, argv, &before, &copy);
    if (n < 0) {
        atomic_store(&started, false);
        return n;
    }
    int rc = log_open();
    if (rc < 0) {
        return rc;
    }
    rte_errno = 0;
    rc = rte_eal_init(n, copy);
    error = rc < 0 ? hxb_rte_error(EFAULT) : 0;
    /* EAL makes a directory per file prefix even when told to share nothing. Empty as it is then,
     * it goes now, so that a killed process leaves none. */
    rmdir(rte_eal_get_runtime_dir());
    sweep_runtime_dirs(rte_eal_get_runtime_dir());
    /* EAL has pinned this thread to its lcore, and threads started later would inherit that. */
    pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
    if (rc >= 0) {
        uint64_t unused;
        /* DPDK ends the process when there is no memory, at the first port, for what all ports share: now there is. */
        rte_eth_dev_owner_new(&unused);
    }
    atomic_store(&running, rc >= 0);
    return error;
}

bool hxb_eal_runs(void)
{
    /* Or another than hxb_eal_init has started it. */
    return atomic_load(&running) || (!atomic_load(&started) && rte_lcore_count() > 0);
}

HXB_API int hxb_eal_cleanup(void)
{
    if (!atomic_exchange(&running, false)) {
        return -ENODEV;
    }
    int rc = rte_eal_cleanup();
    return rc < 0 ? rc : 0;
}
