# Time, and memory beyond the inputs, against the number of positions: a curve for each variant. Variables: table, picture.
set terminal svg size 900, 400 dynamic font "sans,11"
set output picture
set logscale x 2
set logscale y 10
set xlabel "positions"
set xtics 256, 2, 8192
set grid lc rgb "#dddddd"
set key top left
set multiplot layout 1, 2
set ylabel "seconds, forward and backward"
set format y "%g"
set yrange [0.001 : 10]
plot for [i = 0:2] table index i using 1:2 with linespoints lw 2 dashtype i + 1 title columnheader(1)
set ylabel "MiB"
set yrange [1 : 100]
set key bottom right
plot for [i = 0:2] table index i using 1:3 with linespoints lw 2 dashtype i + 1 title columnheader(1)
unset multiplot
