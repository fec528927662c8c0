/* no_symbol - a shared object that is no plug-in. */
extern const int no_symbol_of_interest;
const int no_symbol_of_interest = 1;
