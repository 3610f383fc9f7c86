/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_memif's control side, kept to one thread and apart from the bursts.
 *
 * The driver (read: 22.11.11; 24.11 is alike) tears a connection down in memif_disconnect: it
 * unmaps the rings and frees what describes them. EAL's interrupt thread does that when the peer
 * closes or dies, the closing thread does it in rte_eth_dev_stop, and nothing orders the two, nor
 * either of them against eth_memif_rx and eth_memif_tx, which look at the CONNECTED flag once and
 * then go on in those rings. Each pair of these ends in a segmentation fault, sooner or later.
 * Besides, the driver
 *  - leaves its listening socket open, registered and pointing to freed memory after the last
 *    device of a socket has been closed (memif_socket_remove_device);
 *  - closes an accepted socket whose client is gone already without unregistering it, upon which
 *    EAL's next epoll_ctl fails and panics (memif_listener_handler);
 *  - sends without MSG_NOSIGNAL;
 *  - connects a client in dev_start only, never again.
 *
 * The mend:
 *  1. Whatever changes a memif port runs on EAL's interrupt thread: the driver's handlers do, and
 *     attach, start, stop and close are sent there as an alarm (on_interrupt_thread).
 *  2. Around all of it stands a gate: the interrupt thread closes it and waits until no burst on a
 *     memif port is inside. A burst that finds it closed moves no frame; it never waits.
 *  3. The driver's handlers reach EAL through this library, which defines the three public
 *     functions that register them: the dynamic linker finds these before EAL's, because
 *     libpmhxb is what was loaded and the driver and EAL are its dependencies. Callbacks of others
 *     are passed on untouched. Where the linker does otherwise, attach and start say -ENOSYS.
 *
 * Everything static here belongs to the interrupt thread, the gate and the seats excepted.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_interrupts.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include "internal.h"

#define SOCKET_MAX 108 /* sizeof(sockaddr_un.sun_path) */
#define DEFAULT_SOCKET "/run/memif.sock"
#define RECONNECT_US 50000
/* A connection that was begun and is neither up nor refused after this is begun anew. (A server
 * whose port is not started yet refuses.) */
#define CONNECT_TIMEOUT_NS INT64_C(1000000000)

/* A callback that the driver has registered, in EAL's list under our name. */
struct handler {
    LIST_ENTRY(handler) next;
    rte_intr_callback_fn fn;
    void *arg;
    int fd;
    ino_t inode;              /* of fd: tells a number that was used again */
    struct handler *listener; /* that accepted this connection */
    rte_intr_unregister_callback_fn gone;
    char socket[SOCKET_MAX]; /* listeners only, else empty */
};

static LIST_HEAD(, handler) handlers = LIST_HEAD_INITIALIZER(handlers);

static struct {
    bool attached;
    bool server;
    bool wanted; /* started by the caller and not stopped since */
    bool armed;  /* a reconnect alarm is set */
    int64_t connecting_since_ns; /* 0: no connection was begun, or it is up, or over */
    struct handler *channel;     /* of a client's connection */
    char socket[SOCKET_MAX];
} ends[RTE_MAX_ETHPORTS];

static struct handler *running; /* handler being called */
static const char *attaching;   /* socket of the device being attached */
static int registrations;

/* ---- EAL's own functions ---------------------------------------------------------------------- */

static pthread_once_t eal_once = PTHREAD_ONCE_INIT;
static struct {
    int (*add)(const struct rte_intr_handle *, rte_intr_callback_fn, void *);
    int (*remove)(const struct rte_intr_handle *, rte_intr_callback_fn, void *);
    int (*remove_later)(const struct rte_intr_handle *, rte_intr_callback_fn, void *,
                        rte_intr_unregister_callback_fn);
} eal;

static void find_eal(void)
{
    Dl_info at;

    /* RTLD_NEXT would start from the program that loaded this library, and not find EAL. */
    if (dladdr((void *)(uintptr_t)&rte_eal_alarm_set, &at) == 0) {
        return;
    }
    void *library = dlopen(at.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL) {
        return;
    }
    *(void **)&eal.add = dlsym(library, "rte_intr_callback_register");
    *(void **)&eal.remove = dlsym(library, "rte_intr_callback_unregister");
    *(void **)&eal.remove_later = dlsym(library, "rte_intr_callback_unregister_pending");
}

static bool have_eal(void)
{
    pthread_once(&eal_once, find_eal);
    return eal.add != NULL && eal.remove != NULL && eal.remove_later != NULL;
}

static bool of_memif(rte_intr_callback_fn fn)
{
    Dl_info at;

    return dladdr((void *)(uintptr_t)fn, &at) != 0 && at.dli_fname != NULL &&
           strstr(at.dli_fname, "rte_net_memif") != NULL;
}

static void close_gate(void)
{
    sigset_t pipe;

    /* The driver writes to sockets whose peer may be gone. This is EAL's thread, so blocking the
     * signal changes nobody else's. */
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    hxb_close_gate();
}

/* ---- Handlers ---------------------------------------------------------------------------------- */

static void arm_reconnects(void);

static ino_t inode_of(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

static void forget(struct handler *h)
{
    struct handler *other;

    LIST_REMOVE(h, next);
    for (int port = 0; port < RTE_MAX_ETHPORTS; port++) {
        if (ends[port].channel == h) {
            ends[port].channel = NULL;
            ends[port].connecting_since_ns = 0;
        }
    }
    LIST_FOREACH(other, &handlers, next) {
        if (other->listener == h) {
            other->listener = NULL;
        }
    }
    free(h);
}

/* Takes a handler out of EAL's list that the driver has forgotten. */
static void drop(struct handler *h, bool close_fd)
{
    struct rte_intr_handle *handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);

    if (handle != NULL && rte_intr_fd_set(handle, h->fd) == 0 &&
        eal.remove(handle, hxb_memif_event, h) > 0) {
        if (close_fd) {
            close(h->fd);
        }
        forget(h);
    }
    rte_intr_instance_free(handle);
}

/* Of the connections that `listener` accepted, those that the driver has closed but left in EAL's
 * list, or all. */
static void drop_accepted(struct handler *listener, bool all)
{
    struct handler *h, *next;

    for (h = LIST_FIRST(&handlers); h != NULL; h = next) {
        next = LIST_NEXT(h, next);
        if (h->listener == listener) {
            bool open = inode_of(h->fd) == h->inode;
            if (!open) {
                drop(h, false);
            } else if (all) {
                void *channel = h->arg;
                drop(h, true);
                rte_free(channel);
            }
        }
    }
}

void hxb_memif_event(void *arg)
{
    struct handler *h = arg;
    struct pollfd fd = {.fd = h->fd, .events = POLLIN};

    /* The driver's reads block. EAL calls for a descriptor's number, which in one batch of events
     * may have passed from a closed connection to this one. */
    if (poll(&fd, 1, 0) <= 0) {
        return;
    }
    close_gate();
    running = h;
    h->fn(h->arg);
    running = NULL;
    if (h->socket[0] != '\0') {
        drop_accepted(h, false);
    }
    hxb_open_gate();
    arm_reconnects();
}

/* Called by EAL with its lock held. */
static void handler_gone(struct rte_intr_handle *handle, void *arg)
{
    struct handler *h = arg;

    if (h->gone != NULL) {
        h->gone(handle, h->arg);
    }
    forget(h);
}

static struct handler *find(rte_intr_callback_fn fn, void *arg)
{
    struct handler *h;

    LIST_FOREACH(h, &handlers, next) {
        if (h->fn == fn && h->arg == arg) {
            return h;
        }
    }
    return NULL;
}

HXB_API int rte_intr_callback_register(const struct rte_intr_handle *handle,
                                       rte_intr_callback_fn fn, void *arg)
{
    if (!have_eal()) {
        return -ENOSYS;
    }
    if (!of_memif(fn)) {
        return eal.add(handle, fn, arg);
    }
    struct handler *h = calloc(1, sizeof(*h));
    if (h == NULL) {
        return -ENOMEM;
    }
    h->fn = fn;
    h->arg = arg;
    h->fd = rte_intr_fd_get(handle);
    h->inode = inode_of(h->fd);
    h->listener = running != NULL && running->socket[0] != '\0' ? running : NULL;
    if (attaching != NULL) {
        snprintf(h->socket, sizeof(h->socket), "%s", attaching);
    }
    int rc = eal.add(handle, hxb_memif_event, h);
    if (rc < 0) {
        free(h);
        return rc;
    }
    LIST_INSERT_HEAD(&handlers, h, next);
    registrations++;
    return rc;
}

HXB_API int rte_intr_callback_unregister(const struct rte_intr_handle *handle,
                                         rte_intr_callback_fn fn, void *arg)
{
    if (!have_eal()) {
        return -ENOSYS;
    }
    struct handler *h = of_memif(fn) ? find(fn, arg) : NULL;
    if (h == NULL) {
        return eal.remove(handle, fn, arg);
    }
    int rc = eal.remove(handle, hxb_memif_event, h);
    if (rc > 0) {
        forget(h);
    }
    return rc;
}

HXB_API int rte_intr_callback_unregister_pending(const struct rte_intr_handle *handle,
                                                 rte_intr_callback_fn fn, void *arg,
                                                 rte_intr_unregister_callback_fn gone)
{
    if (!have_eal()) {
        return -ENOSYS;
    }
    struct handler *h = of_memif(fn) ? find(fn, arg) : NULL;
    if (h == NULL) {
        return eal.remove_later(handle, fn, arg, gone);
    }
    h->gone = gone;
    return eal.remove_later(handle, hxb_memif_event, h, handler_gone);
}

/* ---- Calls on the interrupt thread -------------------------------------------------------------- */

struct call {
    int (*run)(struct call *call);
    int port;
    const char *name;
    const char *args;
};

static int run_call(void *arg)
{
    struct call *call = arg;

    close_gate();
    int rc = call->run(call);
    hxb_open_gate();
    arm_reconnects();
    return rc;
}

static int on_interrupt_thread(struct call *call)
{
    return hxb_on_interrupt_thread(run_call, call);
}

/* ---- Ports -------------------------------------------------------------------------------------- */

static bool link_up(int port)
{
    struct rte_eth_link link = {0};

    return rte_eth_link_get_nowait((uint16_t)port, &link) == 0 &&
           link.link_status == RTE_ETH_LINK_UP;
}

/* The connection attempts of a client that waits for its server are not news for the log. */
static int start_quietly(int port)
{
    int type = rte_log_register("pmd.net.memif");
    int level = type < 0 ? -1 : rte_log_get_level((uint32_t)type);

    if (level >= 0) {
        rte_log_set_level((uint32_t)type, RTE_LOG_CRIT);
    }
    int rc = rte_eth_dev_start((uint16_t)port);
    if (level >= 0) {
        rte_log_set_level((uint32_t)type, (uint32_t)level);
    }
    return rc;
}

/* Begins a client's connection; while there is no server the port stays stopped. */
static int connect_client(int port)
{
    int before = registrations;
    int rc = start_quietly(port);

    if (rc == 0 && registrations == before) {
        rte_eth_dev_stop((uint16_t)port);
        return -ENOSYS;
    }
    hxb_port_live(port, rc == 0);
    ends[port].connecting_since_ns = rc == 0 ? hxb_now_ns() : 0;
    /* The one that has just been registered. */
    ends[port].channel = rc == 0 ? LIST_FIRST(&handlers) : NULL;
    return rc == 0 || rc == -1 || rc == -EIO ? 0 : rc;
}

static void reconnect(void *arg)
{
    int port = (int)(uintptr_t)arg;

    ends[port].armed = false;
    if (ends[port].wanted && !link_up(port)) {
        int64_t since = ends[port].connecting_since_ns;
        if (since == 0 || hxb_now_ns() - since > CONNECT_TIMEOUT_NS) {
            close_gate();
            hxb_port_live(port, false);
            rte_eth_dev_stop((uint16_t)port);
            connect_client(port);
            hxb_open_gate();
        }
    }
    arm_reconnects();
}

/* Looks again later at every client that should have a connection and has none. */
static void arm_reconnects(void)
{
    for (int port = 0; port < RTE_MAX_ETHPORTS; port++) {
        if (!ends[port].attached || ends[port].server || !ends[port].wanted) {
            continue;
        }
        if (link_up(port)) {
            ends[port].connecting_since_ns = 0;
        } else if (!ends[port].armed) {
            ends[port].armed =
                rte_eal_alarm_set(RECONNECT_US, reconnect, (void *)(uintptr_t)port) == 0;
        }
    }
}

static bool listens(const char *socket)
{
    struct handler *h;

    LIST_FOREACH(h, &handlers, next) {
        if (strcmp(h->socket, socket) == 0) {
            return true;
        }
    }
    return false;
}

static bool in_use(const char *socket)
{
    for (int port = 0; port < RTE_MAX_ETHPORTS; port++) {
        if (ends[port].attached && strcmp(ends[port].socket, socket) == 0) {
            return true;
        }
    }
    return false;
}

static int attach(struct call *call)
{
    char role[16], socket[SOCKET_MAX];
    uint16_t port;

    hxb_argument(call->args, "role=", "client", role, sizeof(role));
    hxb_argument(call->args, "socket=", DEFAULT_SOCKET, socket, sizeof(socket));
    attaching = socket;
    int rc = rte_eal_hotplug_add("vdev", call->name, call->args);
    attaching = NULL;
    if (rc == 0) {
        rc = rte_eth_dev_get_port_by_name(call->name, &port);
    }
    if (rc < 0) {
        return rc;
    }
    bool server = strcmp(role, "server") == 0 || strcmp(role, "master") == 0;
    if (server && !listens(socket)) {
        rte_eal_hotplug_remove("vdev", call->name);
        return in_use(socket) ? -EADDRINUSE : -ENOSYS;
    }
    memset(&ends[port], 0, sizeof(ends[port]));
    ends[port].attached = true;
    ends[port].server = server;
    snprintf(ends[port].socket, sizeof(ends[port].socket), "%s", socket);
    return port;
}

int hxb_memif_attach(const char *name, const char *args)
{
    struct call call = {.run = attach, .name = name, .args = args};

    return on_interrupt_thread(&call);
}

bool hxb_is_memif(const char *name)
{
    return strncmp(name, "net_memif", strlen("net_memif")) == 0;
}

static int start(struct call *call)
{
    int port = call->port, rc;

    if (ends[port].server) {
        rc = rte_eth_dev_start((uint16_t)port);
        hxb_port_live(port, rc == 0);
    } else {
        rc = connect_client(port);
    }
    ends[port].wanted = rc == 0;
    return rc;
}

int hxb_memif_start(int port)
{
    struct call call = {.run = start, .port = port};

    return on_interrupt_thread(&call);
}

static int stop(struct call *call)
{
    int port = call->port;

    ends[port].wanted = false;
    ends[port].connecting_since_ns = 0;
    rte_eal_alarm_cancel(reconnect, (void *)(uintptr_t)port);
    ends[port].armed = false;
    hxb_port_live(port, false);
    return rte_eth_dev_stop((uint16_t)port);
}

int hxb_memif_stop(int port)
{
    struct call call = {.run = stop, .port = port};

    return on_interrupt_thread(&call);
}

static int close_port(struct call *call)
{
    struct rte_eth_dev_info info;
    struct handler *h, *next;
    int port = call->port;

    int rc = rte_eth_dev_info_get((uint16_t)port, &info);
    if (rc < 0) {
        return rc;
    }
    stop(call);
    rc = rte_eth_dev_close((uint16_t)port);
    int removed = info.device != NULL ? rte_dev_remove(info.device) : 0;
    ends[port].attached = false;
    for (h = LIST_FIRST(&handlers); h != NULL && !in_use(ends[port].socket); h = next) {
        next = LIST_NEXT(h, next);
        if (strcmp(h->socket, ends[port].socket) == 0) {
            drop_accepted(h, true);
            drop(h, true);
            break;
        }
    }
    return rc < 0 ? rc : removed;
}

int hxb_memif_close(int port)
{
    struct call call = {.run = close_port, .port = port};

    return on_interrupt_thread(&call);
}
