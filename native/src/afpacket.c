/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The af_packet driver's socket. The driver keeps it to itself, but frees an mbuf when it has
 * copied the frame into the socket's ring, so that only the socket can say what has not left yet.
 */
#include <dirent.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "internal.h"

static bool bound_to(int fd, int if_index)
{
    struct sockaddr_ll address;
    socklen_t length = sizeof(address);
    int domain = 0;
    socklen_t domain_length = sizeof(domain);

    if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_length) != 0 ||
        domain != AF_PACKET) {
        return false;
    }
    memset(&address, 0, sizeof(address));
    return getsockname(fd, (struct sockaddr *)&address, &length) == 0 &&
           address.sll_ifindex == if_index;
}

static int compare_fds(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

HXB_API int hxb_afpacket_fd(const char *interface, int queue)
{
    int found[HXB_QUEUES_MAX];
    int count = 0;
    struct dirent *entry;

    if (interface == NULL || queue < 0 || queue >= HXB_QUEUES_MAX) {
        return -EINVAL;
    }
    int if_index = (int)if_nametoindex(interface);
    if (if_index == 0) {
        return -ENODEV;
    }
    DIR *fds = opendir("/proc/self/fd");
    if (fds == NULL) {
        return -errno;
    }
    while ((entry = readdir(fds)) != NULL && count < HXB_QUEUES_MAX) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && bound_to((int)fd, if_index)) {
            found[count++] = (int)fd;
        }
    }
    closedir(fds);
    qsort(found, (size_t)count, sizeof(found[0]), compare_fds);
    return queue < count ? found[queue] : -ENOENT;
}

HXB_API int hxb_afpacket_outq(int fd)
{
    int bytes = 0;

    return ioctl(fd, SIOCOUTQ, &bytes) == 0 ? bytes : -errno;
}

HXB_API int hxb_afpacket_kick(int fd)
{
    if (sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0) {
        return 0;
    }
    /* ENOBUFS: the qdisc dropped one; the frames behind it are still in the ring. */
    return errno == ENOBUFS ? -EAGAIN : -errno;
}

HXB_API int64_t hxb_afpacket_drops(int fd)
{
    struct tpacket_stats stats; /* the kernel sets it back to zero with each read */
    socklen_t length = sizeof(stats);

    if (getsockopt(fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length) != 0) {
        return -errno;
    }
    return stats.tp_drops;
}

HXB_API int hxb_afpacket_sndbuf(int fd, int bytes)
{
    int size = 0;
    socklen_t length = sizeof(size);

    /* The kernel doubles what it is given (bookkeeping); asked and answered are the real bytes. */
    int half = bytes / 2;
    if (bytes <= 0) {
        return -EINVAL;
    }
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &half, sizeof(half)) != 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &half, sizeof(half)) != 0) {
        return -errno;
    }
    return getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, &length) == 0 ? size : -errno;
}

/* One question to the kernel about an interface; 0, or a negative errno. */
static int ask_interface(const char *interface, unsigned long request, struct ifreq *answer)
{
    if (interface == NULL || strlen(interface) >= IFNAMSIZ) {
        return -EINVAL;
    }
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    memset(answer, 0, sizeof(*answer));
    memcpy(answer->ifr_name, interface, strlen(interface));
    int rc = ioctl(fd, request, answer) == 0 ? 0 : -errno;
    close(fd);
    return rc;
}

HXB_API int hxb_interface_mtu(const char *interface)
{
    struct ifreq answer;
    int rc = ask_interface(interface, SIOCGIFMTU, &answer);

    return rc < 0 ? rc : answer.ifr_mtu;
}

HXB_API int64_t hxb_interface_mac(const char *interface)
{
    struct ifreq answer;
    int rc = ask_interface(interface, SIOCGIFHWADDR, &answer);

    if (rc < 0) {
        return rc;
    }
    int64_t mac = 0;
    for (int i = 0; i < 6; i++) {
        mac = mac << 8 | (uint8_t)answer.ifr_hwaddr.sa_data[i];
    }
    return mac;
}

HXB_API int hxb_interface_up(const char *interface)
{
    struct ifreq answer;
    int rc = ask_interface(interface, SIOCGIFFLAGS, &answer);

    return rc < 0 ? rc : (answer.ifr_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}
