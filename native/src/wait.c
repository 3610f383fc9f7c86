/* SPDX-License-Identifier: Apache-2.0 */
/* Idle waiting and doorbells. */
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

static void watch(struct pollfd *polled, int fd)
{
    polled->fd = fd; /* poll ignores negative ones */
    polled->events = POLLIN;
    polled->revents = 0;
}

HXB_API int hxb_wait(const int *fds, int n, int event, int64_t timeout_us)
{
    struct pollfd polled[HXB_WAIT_MAX + 1];
    struct timespec timeout;

    if (n < 0 || n > HXB_WAIT_MAX || (n > 0 && fds == NULL)) {
        return -EINVAL;
    }
    for (int i = 0; i < n; i++) {
        watch(&polled[i], fds[i]);
    }
    watch(&polled[n], event);
    if (timeout_us >= 0) {
        timeout.tv_sec = timeout_us / 1000000;
        timeout.tv_nsec = (timeout_us % 1000000) * 1000;
    }
    int rc = ppoll(polled, (nfds_t)n + 1, timeout_us >= 0 ? &timeout : NULL, NULL);
    if (rc < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    for (int i = 0; i < n; i++) {
        if ((polled[i].revents & POLLERR) != 0) {
            /* Reading the error clears it; left alone, every later wait would return at once. */
            int error;
            socklen_t length = sizeof(error);
            (void)getsockopt(polled[i].fd, SOL_SOCKET, SO_ERROR, &error, &length);
        }
    }
    if ((polled[n].revents & POLLIN) != 0) {
        eventfd_t count;
        (void)eventfd_read(event, &count);
    }
    return rc;
}

HXB_API int hxb_event_create(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    return fd >= 0 ? fd : -errno;
}

HXB_API int hxb_event_signal(int fd)
{
    /* EAGAIN: the counter is full, so the bell is ringing already. */
    return eventfd_write(fd, 1) == 0 || errno == EAGAIN ? 0 : -errno;
}

HXB_API int hxb_event_close(int fd)
{
    return close(fd) == 0 ? 0 : -errno;
}
