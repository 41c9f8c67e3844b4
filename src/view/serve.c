/* See serve.h. A browser opens several connections at once and leaves some of them silent, so all
 * are served side by side: each is first read to the end of its request, then written to the end of
 * its answer, then closed. */
#define _GNU_SOURCE /* accept4 */
#include "view/serve.h"

#include "base/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { CLIENTS = 32, REQUEST = 8192, PATIENCE = 10 };

struct client {
    int socket; /* -1: none */
    time_t heard;
    size_t read;
    char request[REQUEST + 1];
    char head[512];
    size_t head_size, head_sent; /* no head: still reading */
    const uint8_t *body;
    size_t body_size, body_sent;
};

static time_t now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

enum facet_status view_server_open(struct view_server *server, struct facet_error *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    uint8_t token[16];
    char *at = server->path;

    *server = (struct view_server){.listener = -1};
    if (getrandom(token, sizeof token, 0) != (ssize_t)sizeof token) {
        return facet_fail(err, FACET_ERR_IO, 0, "no random numbers: %s", strerror(errno));
    }
    *at++ = '/';
    for (size_t i = 0; i < sizeof token; i++) {
        at += sprintf(at, "%02x", token[i]);
    }
    *at++ = '/';
    *at = '\0';
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (server->listener < 0 ||
        bind(server->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server->listener, CLIENTS) != 0 ||
        getsockname(server->listener, (struct sockaddr *)&address, &size) != 0) {
        enum facet_status status =
            facet_fail(err, FACET_ERR_IO, 0, "cannot listen on 127.0.0.1: %s", strerror(errno));

        view_server_close(server);
        return status;
    }
    (void)snprintf(
        server->host, sizeof server->host, "127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    (void)snprintf(
        server->address, sizeof server->address, "http://%s%s", server->host, server->path);
    return FACET_OK;
}

void view_server_close(struct view_server *server)
{
    if (server->listener >= 0) {
        (void)close(server->listener);
        server->listener = -1;
    }
}

/* ---- one request ---- */

static void answer(struct client *c, const char *status, const struct facet_bytes *page, bool body)
{
    const char *type = page != NULL ? "text/html; charset=utf-8" : "text/plain; charset=utf-8";

    c->body = page != NULL ? page->data : NULL;
    c->body_size = page != NULL && body ? page->size : 0;
    c->head_size = (size_t)snprintf(c->head,
                                    sizeof c->head,
                                    "HTTP/1.1 %s\r\n"
                                    "Content-Type: %s\r\n"
                                    "Content-Length: %zu\r\n"
                                    "Cache-Control: no-store\r\n"
                                    "X-Content-Type-Options: nosniff\r\n"
                                    "Referrer-Policy: no-referrer\r\n"
                                    "Cross-Origin-Resource-Policy: same-origin\r\n"
                                    "X-Frame-Options: DENY\r\n"
                                    "Connection: close\r\n\r\n",
                                    status,
                                    type,
                                    page != NULL ? page->size : 0);
}

/* Whether the request names our own host: a name of somebody else's that leads here does not count.
 */
static bool is_for(const char *request, const char *host)
{
    const char *line = request;

    while ((line = strstr(line, "\r\n")) != NULL) {
        line += 2;
        if (strncasecmp(line, "host:", 5) == 0) {
            const char *value = line + 5 + strspn(line + 5, " \t");

            return strcspn(value, " \t\r") == strlen(host) &&
                   strncmp(value, host, strlen(host)) == 0;
        }
    }
    return false;
}

static void
understand(struct client *c, const struct view_server *server, const struct facet_bytes *page)
{
    const bool get = strncmp(c->request, "GET ", 4) == 0;
    const bool only_head = strncmp(c->request, "HEAD ", 5) == 0;
    const char *path = c->request + (get ? 4 : 5);
    const size_t length = strcspn(path, " ?\r");

    if (!get && !only_head) {
        answer(c, "405 Method Not Allowed", NULL, false);
    } else if (!is_for(c->request, server->host) || length != strlen(server->path) ||
               strncmp(path, server->path, length) != 0) {
        answer(c, "404 Not Found", NULL, false);
    } else {
        answer(c, "200 OK", page, get);
    }
}

/* ---- connections ---- */

static void hang_up(struct client *c)
{
    (void)close(c->socket);
    c->socket = -1;
}

static void hear(struct client *c, const struct view_server *server, const struct facet_bytes *page)
{
    const ssize_t got = recv(c->socket, c->request + c->read, REQUEST - c->read, 0);

    if (got <= 0) {
        if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            hang_up(c);
        }
        return;
    }
    c->heard = now();
    c->read += (size_t)got;
    c->request[c->read] = '\0';
    if (strstr(c->request, "\r\n\r\n") != NULL) {
        understand(c, server, page);
    } else if (c->read == REQUEST || strlen(c->request) != c->read) {
        answer(c, "400 Bad Request", NULL, false);
    }
}

static void speak(struct client *c)
{
    const bool in_head = c->head_sent < c->head_size;
    const void *from = in_head ? (const void *)(c->head + c->head_sent) : c->body + c->body_sent;
    const size_t left = in_head ? c->head_size - c->head_sent : c->body_size - c->body_sent;
    const ssize_t sent = left > 0 ? send(c->socket, from, left, MSG_NOSIGNAL) : 0;

    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            hang_up(c);
        }
        return;
    }
    c->heard = now();
    *(in_head ? &c->head_sent : &c->body_sent) += (size_t)sent;
    if (c->head_sent == c->head_size && c->body_sent == c->body_size) {
        (void)shutdown(c->socket, SHUT_WR);
        hang_up(c);
    }
}

static void take(struct client clients[CLIENTS], int listener)
{
    for (int i = 0; i < CLIENTS; i++) {
        if (clients[i].socket < 0) {
            clients[i] = (struct client){.heard = now()};
            clients[i].socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
            return;
        }
    }
}

enum facet_status view_server_run(struct view_server *server,
                                  const struct facet_bytes *page,
                                  bool (*ended)(void),
                                  struct facet_error *err)
{
    static struct client clients[CLIENTS];
    enum facet_status status = FACET_OK;

    for (int i = 0; i < CLIENTS; i++) {
        clients[i].socket = -1;
    }
    while (!ended() && status == FACET_OK) {
        struct pollfd ready[CLIENTS + 1];
        int open = 0;

        for (int i = 0; i < CLIENTS; i++) {
            if (clients[i].socket >= 0 && now() - clients[i].heard > PATIENCE) {
                hang_up(&clients[i]);
            }
            ready[i] = (struct pollfd){.fd = clients[i].socket,
                                       .events = clients[i].head_size > 0 ? POLLOUT : POLLIN};
            open += clients[i].socket >= 0;
        }
        ready[CLIENTS] =
            (struct pollfd){.fd = open < CLIENTS ? server->listener : -1, .events = POLLIN};
        if (poll(ready, CLIENTS + 1, 1000) < 0) {
            if (errno != EINTR) {
                status = facet_fail(err, FACET_ERR_IO, 0, "cannot wait: %s", strerror(errno));
            }
            continue;
        }
        for (int i = 0; i < CLIENTS; i++) {
            if (ready[i].revents != 0) {
                if (clients[i].head_size > 0) {
                    speak(&clients[i]);
                } else {
                    hear(&clients[i], server, page);
                }
            }
        }
        if (ready[CLIENTS].revents != 0) {
            take(clients, server->listener);
        }
    }
    for (int i = 0; i < CLIENTS; i++) {
        if (clients[i].socket >= 0) {
            hang_up(&clients[i]);
        }
    }
    return status;
}

/* ---- the browser ---- */

int view_browser_start(const char *address)
{
    char *const words[] = {(char *)"xdg-open", (char *)address, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    int result = posix_spawn_file_actions_init(&quiet);

    if (result == 0) {
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && result == 0; fd++) {
            result = posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
        }
        result =
            result == 0 ? posix_spawnp(&child, words[0], &quiet, NULL, words, environ) : result;
        (void)posix_spawn_file_actions_destroy(&quiet);
    }
    return result;
}
