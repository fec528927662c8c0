# style.gp - how every picture looks: canvas, palette, title. Expects the texts `title` and `subtitle`, `format` (svg or
# png), `picture` (the file) and `height` (the width is 1200). Texts are the user's: they are printed, never evaluated.
reset
set encoding utf8
set decimalsign "."
set format "%g"

# png counts a font's size in points, svg in pixels.
text_size = format eq "svg" ? 22 : 16.5
if (format eq "svg") {
    set terminal svg noenhanced size 1200, height font sprintf("sans-serif,%.1f", text_size) background rgb "#ffffff"
} else {
    set terminal pngcairo noenhanced size 1200, height font sprintf("sans-serif,%.1f", text_size) background rgb "#ffffff"
}
set output picture

# Okabe and Ito's palette, told apart with any colour vision; without its yellow, which is lost on white.
array colour[7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
array mark[7] = [7, 5, 9, 13, 11, 6, 4]
do for [i = 1:7] { set linetype i linecolor rgb colour[i] pointtype mark[i] pointsize 1.6 }
line_of(i) = colour_of[i] % 7 + 1
mark_of(i) = mark[(colour_of[i] + dash_of[i]) % 7 + 1]
ink = "#404040"

unset key
set border 3 linecolor rgb ink
set tics nomirror out textcolor rgb ink
set grid ytics linetype -1 linewidth 1 linecolor rgb "#e4e4e4"
set label 1 title noenhanced at screen 0.02, screen 1 - 38.0 / height left font sprintf(",%.1f", 1.2 * text_size)
set label 2 subtitle noenhanced at screen 0.02, screen 1 - 78.0 / height left textcolor rgb ink \
    font sprintf(",%.1f", 0.85 * text_size)
