/* One page for one browser on this host: HTTP on 127.0.0.1, at an address that nobody guesses. */
#ifndef FACET_VIEW_SERVE_H
#define FACET_VIEW_SERVE_H

#include "base/file.h"

#include <stdbool.h>

enum { VIEW_ADDRESS = 80 };

struct view_server {
    int listener;
    char host[24];              /* "127.0.0.1:43125" */
    char path[36];              /* "/TOKEN/": 128 bits by the host's generator */
    char address[VIEW_ADDRESS]; /* "http://127.0.0.1:43125/TOKEN/" */
};

enum facet_status view_server_open(struct view_server *server, struct facet_error *err);
/* Answers until `ended` says so, which is asked after each signal and at least every second. Other
 * paths than the server's, other methods than GET and HEAD and other hosts' names are refused;
 * connections that say nothing for ten seconds are closed, and hold nobody else. */
enum facet_status view_server_run(struct view_server *server,
                                  const struct facet_bytes *page,
                                  bool (*ended)(void),
                                  struct facet_error *err);
void view_server_close(struct view_server *server);

/* Starts the user's browser (xdg-open), whose output would only disturb ours; 0, or the errno why
 * not. */
int view_browser_start(const char *address);

#endif
