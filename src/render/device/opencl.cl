/* OpenCL C for files of src/shade that follow (scene/memory.h). */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define uint8_t uchar
#define int32_t int
#define uint32_t uint

#define IN_SCENE __global
#define SCENE_PART(type, owner, member)                                                            \
    ((__global const type *)((__global const uchar *)(owner) + (owner)->member))
#undef NULL
#define NULL 0

/* Structs as shared.h has them. */
#define facet_scene_instance device_instance
#define facet_scene_mesh device_mesh
#define facet_texture_use device_texture_use
#define facet_scene_material device_material
#define facet_scene_texture device_texture
#define facet_scene_light device_light
#define facet_scene device_scene
#define facet_scene_camera device_camera
#define facet_shade_lens device_lens
#define facet_picture device_picture
/* In a function of `texture`. */
#define facet_image_srgb_to_linear(code) (SCENE_PART(float, texture, linear)[code])

/* C's functions by their names here. */
#define fabsf fabs
#define floorf floor
#define fmaxf fmax
#define sqrtf sqrt
#define facet_float_bits as_uint
#define facet_float_of as_float
#define facet_double_bits as_ulong
#define __builtin_bswap32(x) as_uint(as_uchar4(x).wzyx)

/* Names that OpenCL C has for something else, on some devices as macros. */
#undef mix
#undef shuffle
#define mix mix_bits
#define shuffle shuffle_bits
/* Names of functions that the text of the loop has, too. */
#define bits_of sample_bits_of
