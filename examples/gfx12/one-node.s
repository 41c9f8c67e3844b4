# The root of the image, then the stack: what comes next is in v50.
image_bvh8_intersect_ray v[30:39], [v[10:11], v[12:13], v[14:16], v[17:19], v20], s[0:3]
ds_bvh_stack_push8_pop1_rtn_b32 v50, v22, v21, v[30:37], 16, 2
