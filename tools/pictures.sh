#!/bin/sh
# `make pictures`: the pictures of README.md, drawn by Facet itself into a folder. The docs test draws them
# again and compares every pixel.
set -eu
folder=$1
scene=$(dirname "$0")/../assets/room.glb

mkdir -p "$folder"
facet render "$scene" --machine all --size 192x108 --spp 1 --no-ao -o "$folder/machines.png" --quiet
facet render "$scene" --size 480x270 --spp 1 --heatmap nodes -o "$folder/heatmap.png" --quiet
