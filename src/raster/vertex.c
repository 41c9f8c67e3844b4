/* The vertex code for every host. */
#define TARGET
#define VERTEX facet_geo_vertex_plain
#include "raster/vertex.inc"

void facet_raster_geo_normalize(const float a[3], float out[3])
{
    normalize(a, out);
}
