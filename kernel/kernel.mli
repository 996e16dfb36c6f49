
val negb : bool -> bool

type nat =
| O
| S of nat

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> nat

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val add : nat -> nat -> nat

val eqb : bool -> bool -> bool

module Nat :
 sig
  val eqb : nat -> nat -> bool

  val leb : nat -> nat -> bool

  val ltb : nat -> nat -> bool

  val iter : nat -> ('a1 -> 'a1) -> 'a1 -> 'a1
 end

module Pos :
 sig
  val succ : Big_int_Z.big_int -> Big_int_Z.big_int

  val add : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val add_carry : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val mul : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val iter : ('a1 -> 'a1) -> 'a1 -> Big_int_Z.big_int -> 'a1

  val compare_cont :
    comparison -> Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val of_succ_nat : nat -> Big_int_Z.big_int
 end

module Z :
 sig
  val double : Big_int_Z.big_int -> Big_int_Z.big_int

  val succ_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pos_sub : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val opp : Big_int_Z.big_int -> Big_int_Z.big_int

  val pow_pos : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pow : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val abs : Big_int_Z.big_int -> Big_int_Z.big_int

  val of_nat : nat -> Big_int_Z.big_int

  val of_N : Big_int_Z.big_int -> Big_int_Z.big_int

  val pos_div_eucl :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int

  val div_eucl :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int

  val even : Big_int_Z.big_int -> bool

  val odd : Big_int_Z.big_int -> bool
 end

val hd : 'a1 -> 'a1 list -> 'a1

val tl : 'a1 list -> 'a1 list

val nth_error : 'a1 list -> nat -> 'a1 option

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val list_prod : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val seq : nat -> nat -> nat list

val repeat : 'a1 -> nat -> 'a1 list

type kinks = (Big_int_Z.big_int * Big_int_Z.big_int) list

type fn = { base : Big_int_Z.big_int; shift : Big_int_Z.big_int;
            kinks_of : kinks }

val hZ : kinks -> Big_int_Z.big_int -> Big_int_Z.big_int

val fZ : fn -> Big_int_Z.big_int -> Big_int_Z.big_int

val atZ :
  fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val low :
  fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> kinks -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> Big_int_Z.big_int

val low_line :
  fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val sorted : kinks -> bool

val turns : kinks -> Big_int_Z.big_int

val gM :
  Big_int_Z.big_int -> bool -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val walk :
  Big_int_Z.big_int -> bool -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> kinks -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val walk_from :
  Big_int_Z.big_int -> bool -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> kinks -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val lowM :
  fn -> Big_int_Z.big_int -> bool -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> Big_int_Z.big_int

val vanishes : fn -> Big_int_Z.big_int -> bool

val low_over :
  Big_int_Z.big_int -> fn -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val over : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val times : Big_int_Z.big_int -> kinks -> kinks

val mixed : Big_int_Z.big_int -> fn -> Big_int_Z.big_int -> fn -> fn

val low_mixed :
  Big_int_Z.big_int -> fn -> Big_int_Z.big_int -> fn -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val slope_low :
  Big_int_Z.big_int -> kinks -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val slope_high :
  Big_int_Z.big_int -> kinks -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val steepest_down :
  fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val steepest_up :
  fn -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

type smooth = { rise : Big_int_Z.big_int; stretch : Big_int_Z.big_int;
                foot : Big_int_Z.big_int; follower : fn;
                astray : Big_int_Z.big_int }

val one : Big_int_Z.big_int

val squarings : nat

val parts_of : Big_int_Z.big_int

val ceil_div : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val square_down : Big_int_Z.big_int -> Big_int_Z.big_int

val square_up : Big_int_Z.big_int -> Big_int_Z.big_int

val exp_low : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val exp_high : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val enclosed :
  smooth -> Big_int_Z.big_int -> Big_int_Z.big_int * Big_int_Z.big_int

val off_at : smooth -> Big_int_Z.big_int -> Big_int_Z.big_int

val bend :
  smooth -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val bow :
  smooth -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val follows_from :
  smooth -> Big_int_Z.big_int -> Big_int_Z.big_int -> kinks -> bool

val follows : smooth -> bool

val value_above : smooth -> Big_int_Z.big_int -> Big_int_Z.big_int

val slope_under : smooth -> Big_int_Z.big_int -> Big_int_Z.big_int

val slope_over : smooth -> Big_int_Z.big_int -> Big_int_Z.big_int

val smooth_slopes :
  smooth -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

type mode =
| HalfEven
| HalfAway
| HalfZero
| Down
| Up
| ToZero
| FromZero

val halves : mode -> Big_int_Z.big_int * Big_int_Z.big_int

val top : mode -> Big_int_Z.big_int -> Big_int_Z.big_int * bool

val bottom : mode -> Big_int_Z.big_int -> Big_int_Z.big_int * bool

val moves : mode -> Big_int_Z.big_int -> bool

type grid = { size : Big_int_Z.big_int; zero_point : Big_int_Z.big_int;
              least_level : Big_int_Z.big_int;
              greatest_level : Big_int_Z.big_int; rounding : mode;
              wraps : bool }

type curve =
| Bent of fn
| Levels of grid
| Smooth of smooth

val ends : grid -> Big_int_Z.big_int * Big_int_Z.big_int

val close : curve -> fn

val sound : curve -> bool

val same_kinks : kinks -> kinks -> bool

val same_smooth : smooth -> smooth -> bool

val all_sound : smooth list -> curve list -> bool

val highest_kept : grid -> Big_int_Z.big_int * bool

val lowest_kept : grid -> Big_int_Z.big_int * bool

val is_under : bool -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val stays : grid -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val settled : grid -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val span : grid -> Big_int_Z.big_int

val errors :
  grid -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val low_error :
  curve -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val slopes_on :
  curve -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val cut_alike : grid -> grid -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val same_mode : mode -> mode -> bool

val same_steps : curve -> curve -> bool

val one_function :
  curve -> curve -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val add_row :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val add_times :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val head : Big_int_Z.big_int list -> Big_int_Z.big_int

type runs = (nat * Big_int_Z.big_int list) list

val entries : runs -> Big_int_Z.big_int list

val dense : Big_int_Z.big_int list -> runs

val behind :
  nat -> (Big_int_Z.big_int list -> Big_int_Z.big_int list) ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list

val add_run :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> (Big_int_Z.big_int list ->
  Big_int_Z.big_int list) -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val add_runs :
  Big_int_Z.big_int -> runs -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list

val add_weights :
  Big_int_Z.big_int -> runs -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list

val with_row :
  Big_int_Z.big_int -> runs -> (Big_int_Z.big_int * runs) list ->
  (Big_int_Z.big_int * runs) list

val add_two :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val add_four :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val without_zeros : runs -> Big_int_Z.big_int list option

val sum_rows : (Big_int_Z.big_int * runs) list -> Big_int_Z.big_int list

type side =
| First
| Second

type spread = { off1 : Big_int_Z.big_int; slack1 : Big_int_Z.big_int;
                off2 : Big_int_Z.big_int; slack2 : Big_int_Z.big_int }

val radix : Big_int_Z.big_int

type long = { upper : Big_int_Z.big_int; lower : Big_int_Z.big_int }

val whole : long -> Big_int_Z.big_int

val long_of : Big_int_Z.big_int -> long

type neuron = { function0 : curve; other : curve option; row1 : runs;
                long1 : long; row2 : runs; long2 : long;
                unknown : spread option }

val bias1 : neuron -> Big_int_Z.big_int

val bias2 : neuron -> Big_int_Z.big_int

val curve_of : side -> neuron -> curve

val row : side -> neuron -> Big_int_Z.big_int list

val off : side -> neuron -> Big_int_Z.big_int

val slack : side -> neuron -> Big_int_Z.big_int

type layer = { denominator : Big_int_Z.big_int; neurons : neuron list }

type net = layer list

val width : nat -> net -> nat

val fits : nat -> neuron -> bool

val curves : neuron list -> curve list

val well_formed : nat -> net -> bool

type bounds = { lx : Big_int_Z.big_int; ux : Big_int_Z.big_int;
                ly : Big_int_Z.big_int; uy : Big_int_Z.big_int;
                ld : Big_int_Z.big_int; ud : Big_int_Z.big_int }

val exchange : bounds -> bounds

val meet : bounds -> bounds -> bounds

val contradictory : bounds -> bool

type kind =
| KX
| KY
| KD

val of_x : kind -> Big_int_Z.big_int

val of_y : kind -> Big_int_Z.big_int

val tight : kind -> bool -> Big_int_Z.big_int -> bounds -> bounds

val tighter : kind -> bool -> Big_int_Z.big_int -> bounds -> bounds

type known = bounds list list

val update : nat -> ('a1 -> 'a1) -> 'a1 list -> 'a1 list

val tighten :
  known -> nat -> nat -> kind -> bool -> Big_int_Z.big_int -> known

val get : known -> nat -> nat -> bounds option

val lowest : kind -> bounds -> Big_int_Z.big_int

val highest : kind -> bounds -> Big_int_Z.big_int

val steps : Big_int_Z.big_int -> Big_int_Z.big_int -> fn

val low_difference :
  Big_int_Z.big_int -> curve -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  bounds -> Big_int_Z.big_int

type hint = { link : Big_int_Z.big_int; slope_x : Big_int_Z.big_int;
              slope_y : Big_int_Z.big_int; slope_d : Big_int_Z.big_int }

val no_hint : hint

type wish = Big_int_Z.big_int * Big_int_Z.big_int

val low_second :
  Big_int_Z.big_int -> neuron -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val agrees : neuron -> bounds -> bool

val gathered :
  neuron -> bounds -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val low_errors :
  neuron -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  bounds -> Big_int_Z.big_int

val lost :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> neuron ->
  Big_int_Z.big_int

val unasked : hint -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val idle :
  hint list -> wish list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  -> bool

val low_neuron :
  Big_int_Z.big_int -> Big_int_Z.big_int -> neuron -> bounds -> hint ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val add_biases :
  Big_int_Z.big_int -> long -> Big_int_Z.big_int -> long -> Big_int_Z.big_int
  -> long -> long

val silent :
  neuron -> bounds -> hint -> wish -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> bool

val relax :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> neuron list
  -> bounds list -> hint list -> wish list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list ->
  ((Big_int_Z.big_int * long) * (Big_int_Z.big_int * runs)
  list) * (Big_int_Z.big_int * runs) list

type box = (Big_int_Z.big_int * Big_int_Z.big_int) list

type constraint0 = Big_int_Z.big_int list * Big_int_Z.big_int

type region = { sides : box; constraints : constraint0 list }

val low_box : box -> Big_int_Z.big_int list -> Big_int_Z.big_int

val low_region :
  box -> constraint0 list -> hint list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int

val size_on :
  curve -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val reach_of : neuron list -> bounds list -> Big_int_Z.big_int

val reach_box : box -> Big_int_Z.big_int

val is_unknown : neuron -> bool

val reach : layer -> net -> region -> known -> Big_int_Z.big_int

type hints = (Big_int_Z.big_int * hint list) list

type wishes = wish list list

val scale : hints -> Big_int_Z.big_int

val parts : Big_int_Z.big_int -> Big_int_Z.big_int * Big_int_Z.big_int

val hints_here : hints -> hint list

val total : net -> Big_int_Z.big_int

val pull :
  net -> region -> known -> hints -> wishes -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int * Big_int_Z.big_int

val floor_div : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val interval :
  net -> region -> known -> Big_int_Z.big_int -> Big_int_Z.big_int -> neuron
  -> bounds

val start : net -> region -> known

val forward : net -> region -> known -> nat -> known

val single : nat -> nat -> wish -> wishes

val unit_of : net -> nat -> hints -> Big_int_Z.big_int

val below : net -> nat -> Big_int_Z.big_int

val signed : bool -> Big_int_Z.big_int -> Big_int_Z.big_int

val pulled :
  net -> region -> known -> nat -> nat -> kind -> bool -> Big_int_Z.big_int
  -> hints -> Big_int_Z.big_int option

val bound :
  net -> region -> known -> nat -> nat -> kind -> bool -> Big_int_Z.big_int
  -> hints -> known

val cut_side : nat -> bool -> Big_int_Z.big_int -> region -> region

val bound_input :
  net -> region -> known -> nat -> bool -> Big_int_Z.big_int -> hints ->
  region

type limit = { layer_of : nat; neuron_of : nat; kind_of : kind;
               at_least : bool; value_of : Big_int_Z.big_int; strict : 
               bool }

type obligation = limit list

val excluded_limit : known -> limit -> bool

val excluded : known -> obligation -> bool

val assume : known -> limit -> known

type node = { area : region; known_of : known; open0 : obligation list }

type record =
| RInput of nat * Big_int_Z.big_int
| RCut of nat * nat * kind * Big_int_Z.big_int
| RAssume of nat
| RBound of nat * nat * kind * bool * Big_int_Z.big_int * hints
| RBoundInput of nat * bool * Big_int_Z.big_int * hints
| RForward of nat
| RDone
| RLeaf of hints
| RVoid of nat * nat
| REmpty of nat

val without : nat -> 'a1 list -> 'a1 list

val void : known -> nat -> nat -> bool

val crossed : region -> nat -> bool

val step : net -> record -> node list -> node list option

val run : net -> record list -> node list -> node list option

val root_of : net -> region -> obligation list -> node

val numbered : 'a1 list -> (nat * 'a1) list

val above_half : nat -> nat -> Big_int_Z.big_int -> bool -> obligation

val below_half : nat -> nat -> Big_int_Z.big_int -> bool -> obligation

val leaving : bool -> nat -> nat -> curve -> obligation list

val all_leaving : bool -> nat -> net -> obligation list

type rat = Big_int_Z.big_int * Big_int_Z.big_int

type group = (nat * (Big_int_Z.big_int * rat)) list

val distinct : nat list -> bool

val square : Big_int_Z.big_int -> Big_int_Z.big_int

val total_weight : group -> Big_int_Z.big_int

val margin_of_share :
  rat -> nat -> Big_int_Z.big_int -> (nat * (Big_int_Z.big_int * rat)) -> bool

val margins_of_group : rat -> nat -> group -> bool

val down : Big_int_Z.big_int -> rat -> Big_int_Z.big_int

val up : Big_int_Z.big_int -> rat -> Big_int_Z.big_int

type claim =
| Distance of nat list * rat
| Manhattan of nat list * rat
| KeepsFirst of rat
| KeepsConfident of rat * rat * nat * group list
| Inequality of Big_int_Z.big_int list * Big_int_Z.big_int list * rat * bool
| Fits of bool

val unit_row : nat -> Big_int_Z.big_int list

val signed_rows : nat list -> Big_int_Z.big_int list list

val pairs : nat -> (nat * nat) list

val members : nat -> group list -> (nat * group) list

val group_row : nat -> group -> Big_int_Z.big_int list

val group_least : Big_int_Z.big_int -> group -> Big_int_Z.big_int

val ahead_rows :
  nat -> group list -> (Big_int_Z.big_int list * Big_int_Z.big_int list) list

val rows_of :
  nat -> claim -> (Big_int_Z.big_int list * Big_int_Z.big_int list) list

val group_limits : Big_int_Z.big_int -> nat -> nat -> group list -> limit list

val ahead :
  Big_int_Z.big_int -> nat -> Big_int_Z.big_int -> group list -> obligation
  list

val obligations_of :
  Big_int_Z.big_int -> net -> nat -> claim -> obligation list

val zero : curve

val claim_layer :
  (Big_int_Z.big_int list * Big_int_Z.big_int list) list -> layer

val sensible : claim -> bool

type question = { grain : Big_int_Z.big_int; pair : net;
                  ranges : (rat * rat) list;
                  inequalities : (Big_int_Z.big_int list * rat) list;
                  asked_for : claim }

val outputs_count : question -> nat

val problem : question -> net

val region_of : question -> region

val root : question -> node

val meaningful : question -> bool

val check : question -> record list -> bool
