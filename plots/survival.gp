# survival.gp - the share of calls that waited longer than x, one falling curve a series, its name beside it.
#
# `weir plot` sets the variables as for curves.gp, but a label stands at label_x[], label_y[] (shares of the axes, its
# left end and the middle of its height). y is a share; it is drawn in percent on a logarithmic axis.
height = 750
load scripts."/style.gp"

set lmargin at screen 0.125
set rmargin at screen 0.95
set tmargin at screen 0.84
set bmargin at screen 0.135
set xrange [x_low : x_high]
set yrange [100 * y_low : 100 * y_high]
if (x_log) { set logscale x }
set logscale y
set format y "%g %%"
set label 4 x_title noenhanced at graph 0.5, screen 0.028 center textcolor rgb ink
set label 5 y_title noenhanced at screen 0.014, graph 0.5 center rotate textcolor rgb ink
set ytics 10
set mytics 1
if (y_low < 0.01) {
    set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead dashtype 2 linewidth 2 linecolor rgb ink back
    set label 3 "p99" at graph 1.008, first 1 left textcolor rgb ink font sprintf(",%.1f", 0.85 * text_size)
}
set style textbox opaque noborder fillcolor rgb "#ffffff" margins 0.3, 0.1
do for [i = 1:count] {
    set label 100 + i label[i] noenhanced at graph label_x[i], graph label_y[i] left front boxed \
        font sprintf(",%.1f", label_size * text_size) textcolor linetype line_of(i)
}

plot for [i = 1:count] $table index (i - 1) \
         using (column("x") < x_low ? x_low : column("x")):(column("y") > 0 ? 100 * column("y") : NaN) notitle \
         with lines linetype line_of(i) linewidth (count > 3 ? 3 : 3 + 2 * (count - i)) dashtype 1 + dash_of[i]
unset output
