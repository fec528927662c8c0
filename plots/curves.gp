# curves.gp - a metric against a factor, one curve a series, its name at the right end instead of a legend.
#
# `weir plot` sets the variables: texts title, subtitle, x_title, y_title; ranges x_low, x_high, y_low, y_high; x_log;
# tics and tic[] (0: gnuplot's own); knee (NaN: none); count series with label[], colour_of[], dash_of[], label_at[]
# (share of the height), end_x[], end_y[]; label_width (share of the width), label_size and label_shrink (of the text);
# and $table, a block a series with the columns x, y, low, high. Texts are the user's: they are printed, never evaluated.
height = 750
load scripts."/style.gp"

set lmargin at screen 0.125
set rmargin at screen 0.96 - label_width
set tmargin at screen 0.815
set bmargin at screen 0.135
if (y_low < 0) { set arrow 2 from graph 0, first 0 to graph 1, first 0 nohead linewidth 1.5 linecolor rgb ink back }
set xrange [x_low : x_high]
set yrange [y_low : y_high]
if (x_log) { set logscale x }
# Placed by hand: gnuplot leaves a title out that it takes to be off the canvas.
set label 4 x_title noenhanced at graph 0.5, screen 0.028 center textcolor rgb ink
set label 5 y_title noenhanced at screen 0.018, graph 0.5 center rotate textcolor rgb ink
if (tics > 0) {
    set xtics ()
    do for [i = 1:tics] { set xtics add (tic[i]) }
}

if (knee == knee) {
    set arrow 1 from first knee, graph 0 to first knee, graph 1 nohead dashtype 2 linewidth 2 linecolor rgb ink back
    set label 3 sprintf("knee %.4g", knee) noenhanced at first knee, graph 1.03 center textcolor rgb ink \
        font sprintf(",%.1f", 0.85 * text_size)
}
small = text_size * (label_shrink < 1 ? label_shrink : 1) * label_size
do for [i = 1:count] {
    set label 100 + i label[i] noenhanced at graph 1.025, graph label_at[i] left font sprintf(",%.1f", small) \
        textcolor linetype line_of(i)
    set arrow 100 + i from first end_x[i], first end_y[i] to graph 1.018, graph label_at[i] nohead linewidth 1 \
        dashtype 3 linecolor line_of(i) back
}

# A few curves become thinner from first to last, so that one which another covers shows on both sides of it.
set errorbars 0
plot for [i = 1:count] $table index (i - 1) using "x":"low":"high" notitle with filledcurves \
         linecolor line_of(i) fillstyle transparent solid 0.15 noborder, \
     for [i = 1:count] $table index (i - 1) using "x":"y":"low":"high" notitle with yerrorbars \
         linetype line_of(i) linewidth 2 pointtype 0, \
     for [i = 1:count] $table index (i - 1) using "x":"y" notitle with linespoints \
         linetype line_of(i) linewidth (count > 3 ? 3 : 3 + 2 * (count - i)) dashtype 1 + dash_of[i] \
         pointtype mark_of(i)
unset output
