# bars.gp - a metric, one bar a series, where no factor is a number.
#
# `weir plot` sets the variables as for curves.gp, and value[], the texts behind the bars at end_y[]. $table is one block
# with the columns x (the bar's number), y, low, high, colour.
height = 220 + 80 * count < 750 ? 220 + 80 * count : 750
load scripts."/style.gp"

small = text_size * (count > 14 ? 14.0 / count : 1)
small_label = label_size < small / text_size ? text_size * label_size : small
set lmargin at screen 0.04 + label_width
set rmargin at screen 0.96
set tmargin at screen 1 - 115.0 / height
set bmargin at screen 90.0 / height
set xrange [y_low < 0 ? y_low * 1.25 : 0 : y_high * 1.25]
set yrange [count + 0.55 : 0.45]
set label 4 y_title noenhanced at graph 0.5, screen 21.0 / height center textcolor rgb ink
set grid xtics noytics
set border 2
unset ytics
do for [i = 1:count] {
    set label 100 + i label[i] noenhanced at graph -0.012, first i right font sprintf(",%.1f", small_label)
    set label 200 + i value[i] noenhanced at first end_y[i], first i left offset 1, 0 font sprintf(",%.1f", small)
}

plot $table using (0):"x":(0):"y":(column("x") - 0.34):(column("x") + 0.34):"colour" notitle \
         with boxxyerror linecolor variable fillstyle solid 0.85 noborder, \
     $table using "y":"x":"low":"high" notitle with xerrorbars pointtype 0 linewidth 2 linecolor rgb ink
unset output
