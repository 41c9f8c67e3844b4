/* Matrices that drivers keep, as their bytes: three rows of four little-endian floats. And HIPRT's
 * frames, the same motion in another form. */
#ifndef FACET_GFX12_DRIVERS_MATRIX_H
#define FACET_GFX12_DRIVERS_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

/* Whether two matrices undo each other, as far as the rounding of their products reaches. */
bool facet_gfx12_are_inverse(const uint8_t *to_object, const uint8_t *to_world);

/* By cofactors; a matrix without an inverse leaves what is there. */
void facet_gfx12_store_inverse(const uint8_t *from, uint8_t *to);

bool facet_gfx12_is_identity(const uint8_t *matrix);

/* A frame of 64 bytes holds object to world, and behind it a time: as a matrix, or, which is
 * HIPRT's default, as a rotation (quaternion), scale, shear and translation. */
enum facet_gfx12_frame_form { FACET_GFX12_FRAME_TURN, FACET_GFX12_FRAME_MATRIX };

/* The frame's matrix from world to object (48 bytes). False where the frame cannot be of that form:
 * no rotation, or nothing that has an inverse. */
bool facet_gfx12_frame_read(const uint8_t *frame,
                            enum facet_gfx12_frame_form form,
                            uint8_t *to_object);
double facet_gfx12_frame_time(const uint8_t *frame, enum facet_gfx12_frame_form form);

/* When the frame is that of the matrix `before` (world to object) it becomes that of `after`, in
 * its own form and with its own time; false when it is not, and nothing changes. */
bool facet_gfx12_frame_follow(uint8_t *frame, const uint8_t *before, const uint8_t *after);

#endif
