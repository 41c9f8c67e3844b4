/* Everything of src/gfx that instruction handlers call. Pure functions over explicit inputs. */
#ifndef FACET_GFX_GFX_H
#define FACET_GFX_GFX_H

#include "gfx/primitive.h"
#include "gfx/sample.h"
#include "gfx/span.h"
#include "gfx/texture.h"

#endif
