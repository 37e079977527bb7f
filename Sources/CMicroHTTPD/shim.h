#ifndef MARTLET_CMICROHTTPD_H
#define MARTLET_CMICROHTTPD_H

#include <microhttpd.h>

// Starts a daemon. Swift cannot call MHD_start_daemon, which is variadic. The daemon has no thread and no listening
// socket. The caller adds connections, and runs the daemon when its epoll descriptor is readable. The daemon writes
// nothing to standard error, leaves percent-escapes to `unescape`, and requires a Host header.
static inline struct MHD_Daemon *martlet_start_daemon(
    unsigned int connections_max, size_t connection_memory_bytes_max, MHD_AccessHandlerCallback handle,
    void *(*begin)(void *, const char *, struct MHD_Connection *), MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection_changed, size_t (*unescape)(void *, struct MHD_Connection *, char *),
    void *closure) {
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, closure,
        MHD_OPTION_CONNECTION_LIMIT, connections_max, MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory_bytes_max,
        MHD_OPTION_URI_LOG_CALLBACK, begin, closure, MHD_OPTION_NOTIFY_COMPLETED, completed, closure,
        MHD_OPTION_NOTIFY_CONNECTION, connection_changed, closure, MHD_OPTION_UNESCAPE_CALLBACK, unescape, closure,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

// The functions that read information are variadic. These wrappers return -1 or NULL after an error.
static inline int martlet_epoll_descriptor(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

static inline int martlet_connection_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline void *martlet_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

#endif
