/* Allocations that fail on demand, for the paths that no test machine reaches by itself.
 *
 * A suite that lists `failing_alloc` among its dependencies has malloc, calloc and realloc of its
 * own code and of the library routed through here by the linker (--wrap), and jansson's too. */
#ifndef FACET_TESTS_FAILING_ALLOC_H
#define FACET_TESTS_FAILING_ALLOC_H

/* The next `good` allocations succeed, all later ones fail; negative = never fail. */
void failing_alloc_after(long good);
/* The same, but the one after them fails alone. */
void failing_alloc_once_after(long good);
/* Calls `attempt` again and again: first each allocation that it makes fails together with all
 * later ones, then each alone. Returns how many it makes when none fails; the attempt does the
 * checking.
 */
long failing_alloc_each(void (*attempt)(void *context), void *context);

#endif
