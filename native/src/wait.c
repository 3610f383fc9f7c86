/* SPDX-License-Identifier: Apache-2.0 */
/* Idle waiting and doorbells. */
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

HXB_API int hxb_wait(const int *fds, int n, int64_t timeout_us)
{
    struct pollfd polled[HXB_WAIT_MAX];
    struct timespec timeout;

    if (n < 0 || n > HXB_WAIT_MAX || (n > 0 && fds == NULL)) {
        return -EINVAL;
    }
    for (int i = 0; i < n; i++) {
        polled[i].fd = fds[i]; /* poll ignores negative ones */
        polled[i].events = POLLIN;
        polled[i].revents = 0;
    }
    if (timeout_us >= 0) {
        timeout.tv_sec = timeout_us / 1000000;
        timeout.tv_nsec = (timeout_us % 1000000) * 1000;
    }
    int rc = ppoll(polled, (nfds_t)n, timeout_us >= 0 ? &timeout : NULL, NULL);
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

HXB_API int hxb_event_drain(int fd)
{
    eventfd_t count;

    if (eventfd_read(fd, &count) == 0) {
        return 1;
    }
    return errno == EAGAIN ? 0 : -errno;
}

HXB_API int hxb_event_close(int fd)
{
    return close(fd) == 0 ? 0 : -errno;
}
