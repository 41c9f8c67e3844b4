/* What a function asks of its caller, in code. With FACET_ASSERTS (-Dasserts=true, debug
 * information, any sanitizer) a broken promise ends the program and names the line; a release build
 * compiles to nothing, and the compiler assumes nothing either. For mistakes of this program only:
 * whatever comes from a guest, a file or the host is checked and reported. */
#ifndef FACET_BASE_REQUIRE_H
#define FACET_BASE_REQUIRE_H

#ifdef FACET_ASSERTS
#undef NDEBUG
#include <assert.h>
#define FACET_REQUIRE(condition) assert(condition)
#else
#define FACET_REQUIRE(condition) ((void)sizeof(!(condition)))
#endif

#endif
