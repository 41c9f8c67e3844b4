/* Files that look things up in a scene are compiled twice: as C, and by the compiler of a device as
 * OpenCL C (src/render/device), where a pointer says in which memory it points and structs of a
 * scene hold distances to their parts in place of pointers. */
#ifndef FACET_SCENE_MEMORY_H
#define FACET_SCENE_MEMORY_H

/* Of what a pointer leads to. */
#define IN_SCENE
/* The pointer `member`, to things of `type`, of the struct that `owner` points to. */
#define SCENE_PART(type, owner, member) ((owner)->member)

#endif
