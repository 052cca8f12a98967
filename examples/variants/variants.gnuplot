# A line for each combination, the best at the top: loss at both lengths, and speed and memory beside it. Variables: table, picture.
stats table every ::1 using 3 nooutput
rows = int(STATS_records)
set terminal svg size 960, 110 + 17 * rows dynamic font "sans,11"
set output picture
set datafile missing "-"
set multiplot layout 1, 2 margins 0.22, 0.98, 60.0 / (110 + 17 * rows), 1 - 50.0 / (110 + 17 * rows) spacing 0.06
set yrange [rows - 0.5 : -0.5]
set grid x lc rgb "#dddddd"
set grid y lc rgb "#eeeeee"
set key above
set xlabel "bits per byte"
set xtics nomirror
plot table every ::1 using 3:0:yticlabels(stringcolumn(1) . " + " . stringcolumn(2)) with points pt 7 ps 0.7 lc rgb "#0072b2" title "as long as in training", \
     table every ::1 using 5:0 with points pt 6 ps 0.7 lc rgb "#d55e00" title "four times as long"
set format y ""
set xlabel "as a part of dot + none"
set logscale x 2
plot table every ::1 using 6:0 with points pt 7 ps 0.7 lc rgb "#009e73" title "tokens per second", \
     table every ::1 using 7:0 with points pt 6 ps 0.7 lc rgb "#666666" title "memory"
unset multiplot
