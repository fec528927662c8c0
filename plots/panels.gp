# panels.gp - columns of a record over time: panels one below the other, with the same curves and one legend; or
# `joined`: of several columns, with a legend above each.
#
# `weir plot` loads it once a panel and sets the variables: `panel` of `panels`, panel_title, y_low, y_high, y_step;
# count curves with label[], colour_of[], dash_of[]; and $table, a block a curve with the columns x, y (NaN: a gap),
# low, high, and alone, which is y where no line shows it. The first `lefts` curves are on the axis of y, the others
# on one at the right: right_title, right_low, right_high, right_step. For all panels: x_title, x_low, x_high,
# label_width (share of the width) and label_size (of the text); and how many characters the longest numbers of the
# axes have: left_digits, right_digits. Entries of joined legends stand at entry_x[] (share of the width) in
# entry_row[], of entry_rows, and of all_entry_rows in all panels. A few curves become thinner from first to last, so
# that one which another covers shows on both sides of it; if joined, those of a column are as thick as each other.
if (panel == 1) {
    above = 105.0
    below = joined ? 75.0 : 85.0
    title_row = 34.0
    entry_height = 30.0
    if (joined) {
        row = panels == 1 ? 480.0 : panels == 2 ? 310.0 : panels == 3 ? 250.0 : 215.0
    } else {
        row = 205.0 * panels > 34.0 * count ? 205.0 : 34.0 * count / panels
    }
    height = above + panels * row + (joined ? all_entry_rows * entry_height : 0) + below
    done = 0
    load scripts."/style.gp"
    set multiplot
    left = 0.095 + (left_digits > 5 ? 14.0 / 1200 * (left_digits - 5) : 0)
    set lmargin at screen left
    if (joined) {
        set rmargin at screen 0.96 - (right_digits ? (14.0 * right_digits) / 1200 : 0)
    } else {
        set rmargin at screen 0.905 - label_width
    }
    set xrange [x_low : x_high]
    set grid xtics ytics linetype -1 linewidth 1 linecolor rgb "#e4e4e4"
    small = text_size * (joined ? 0.85 : label_size)
} else {
    unset label
    unset arrow
}
array thick_of[3] = [4.5, 2.5, 1.5]
columns = 1 + colour_of[count]
thick(i) = joined ? thick_of[columns == 1 ? 2 : colour_of[i] % 3 + 1] : count > 4 ? 2 : 2 + 1.5 * (count - i)
legend_height = joined ? entry_rows * entry_height : 0
top = 1 - (above + done) / height
done = done + legend_height + row
if (joined) {
    do for [i = 1:count] {
        place = top - (18 + entry_height * entry_row[i]) / height
        set label 100 + i label[i] noenhanced at screen left + entry_x[i] + 0.056, screen place left \
            font sprintf(",%.1f", small) textcolor linetype line_of(i)
        set arrow 100 + 2 * i from screen left + entry_x[i], screen place \
            to screen left + entry_x[i] + 0.05, screen place \
            nohead linewidth thick(i) dashtype 1 + dash_of[i] linecolor line_of(i)
        # An SVG joins arrows of a colour to a path of one dash, unless one of another thickness is in between.
        set arrow 101 + 2 * i from screen left, screen place to screen left, screen place \
            nohead linewidth 1 linecolor rgb "#ffffff"
    }
}
if (!joined && panel == 1) {
    do for [i = 1:count] {
        place = 1 - (above + 44 + 34 * (i - 1)) / height
        set label 100 + i label[i] noenhanced at screen 0.975 - label_width, screen place left \
            font sprintf(",%.1f", small) textcolor linetype line_of(i)
        set arrow 100 + i from screen 0.918 - label_width, screen place to screen 0.968 - label_width, screen place \
            nohead linewidth 3 dashtype 1 + dash_of[i] linecolor line_of(i)
    }
}
set tmargin at screen top - (legend_height + title_row) / height
set bmargin at screen top - (legend_height + row - (joined ? 18 : 8)) / height
set yrange [y_low : y_high]
set ytics y_step
set label 5 panel_title noenhanced at graph 0, screen top - (legend_height + 18) / height left textcolor rgb ink \
    font sprintf(",%.1f", 0.85 * text_size)
set format x (panel == panels ? "%g" : "")
if (panel == panels) {
    set label 4 x_title noenhanced at graph 0.5, screen 22.0 / height center textcolor rgb ink
}
if (y_low < 0) { set arrow 2 from graph 0, first 0 to graph 1, first 0 nohead linewidth 1.5 linecolor rgb ink back }

set border lefts < count ? 11 : 3
unset y2tics
if (lefts == count) {
    plot for [i = 1:count] $table index (i - 1) using "x":"low":"high" notitle with filledcurves \
             linecolor line_of(i) fillstyle transparent solid 0.15 noborder, \
         for [i = 1:count] $table index (i - 1) using "x":"y" notitle with lines linetype line_of(i) \
             linewidth thick(i) dashtype 1 + dash_of[i], \
         for [i = 1:count] $table index (i - 1) using "x":"alone" notitle with points linetype line_of(i) pointsize 0.8
} else {
    set y2range [right_low : right_high]
    set y2tics right_step
    set label 6 right_title noenhanced at graph 1, screen top - (legend_height + 18) / height right textcolor rgb ink \
        font sprintf(",%.1f", 0.85 * text_size)
    plot for [i = 1:lefts] $table index (i - 1) using "x":"low":"high" notitle with filledcurves \
             linecolor line_of(i) fillstyle transparent solid 0.15 noborder, \
         for [i = lefts + 1:count] $table index (i - 1) using "x":"low":"high" axes x1y2 notitle with filledcurves \
             linecolor line_of(i) fillstyle transparent solid 0.15 noborder, \
         for [i = 1:lefts] $table index (i - 1) using "x":"y" notitle with lines linetype line_of(i) \
             linewidth thick(i) dashtype 1 + dash_of[i], \
         for [i = lefts + 1:count] $table index (i - 1) using "x":"y" axes x1y2 notitle with lines linetype line_of(i) \
             linewidth thick(i) dashtype 1 + dash_of[i], \
         for [i = 1:lefts] $table index (i - 1) using "x":"alone" notitle with points linetype line_of(i) pointsize 0.8, \
         for [i = lefts + 1:count] $table index (i - 1) using "x":"alone" axes x1y2 notitle with points \
             linetype line_of(i) pointsize 0.8
}
if (panel == panels) {
    unset multiplot
    unset output
}
