"""Everyday names of things in a home that neither their types nor WordNet have."""

from __future__ import annotations

from collections.abc import Mapping

_OTHER_NAMES = """\
tap: faucet
water tap: faucet
bin, trash, trash bin, rubbish bin, dustbin, waste bin, rubbish, garbage, wastebasket: garbage can
waste basket, trashcan: garbage can
sink, basin, washbasin: sink basin, sink
bathtub, bath tub, tub, bath: bathtub basin, bathtub
light, lights: light switch, desk lamp, floor lamp, lamp
stove, hob, cooker, stovetop, cooktop, burner, stove top: stove burner, stove
nightstand, night stand, bedside table, night table, end table: side table
chest of drawers, drawers chest: dresser
chair, easy chair: arm chair, chair
kitchen table, dinner table: dining table
worktop, kitchen counter, counter, work surface, countertop: counter top, counter
cupboard: cabinet
frying pan, fry pan, skillet: pan
cooking pot, saucepan, stockpot: pot
figurine, sculpture: statue
disc, compact disc, disk: cd
glass bottle: glassbottle, glass bottle
bottle: glassbottle, wine bottle, soap bottle, spray bottle, bottle
wine: wine bottle
tissues, tissue, kleenex, box of tissues: tissue box
toilet roll, loo roll, toilet paper roll, roll of toilet paper: toilet paper
rag, dishcloth, washcloth: cloth
loaf, loaf of bread: bread
salt: salt shaker
pepper: pepper shaker
keys, key, keychain, keyring, bunch of keys, house keys, car keys: key chain
soap: soap bar, soap bottle
bar of soap, piece of soap: soap bar
bottle of soap, liquid soap, soap dispenser, hand soap: soap bottle
remote, tv remote, clicker: remote control
tv, telly: television
phone, mobile, smartphone, cell, cellphone, iphone, mobile phone, handy: cell phone
notebook computer, computer: laptop
wristwatch: watch
alarm: alarm clock
table knife: butter knife
coffee maker, coffeemaker, espresso machine: coffee machine
microwave oven: microwave
refrigerator, icebox, ice box: fridge
ball: basket ball, ball
bat: baseball bat
racket, racquet, tennis racquet: tennis racket
cardboard box: box
card, bank card: credit card
paper: newspaper
sponge: dish sponge
couch, settee: sofa
spray: spray bottle
towel: hand towel, towel
towel holder, towel rack: hand towel holder
toilet paper holder: toilet paper hanger
loo: toilet
bookshelf, shelves: shelf
dishes, dish, crockery, tableware: plate, bowl, cup, mug
cutlery, silverware, flatware: fork, knife, spoon, butter knife
fruit, fruits: apple, banana, orange
vegetable, vegetables, veggies: tomato, potato, lettuce
electronic devices, electronics, gadgets, gadget: laptop, cell phone, television, remote control, alarm clock
container, containers, receptacle: fridge, cabinet, drawer, box, safe, microwave, garbage can
device, devices: laptop, cell phone, television, microwave, toaster, coffee machine, remote control, alarm clock
seating, seat: sofa, arm chair, ottoman
"""


def _table() -> Mapping[str, tuple[str, ...]]:
    rows = (line.partition(": ") for line in _OTHER_NAMES.splitlines())
    return {name: tuple(types.split(", ")) for names, _, types in rows for name in names.split(", ")}


OTHER_NAMES = _table()
"""Names of types, as people write them, by what else they are called."""
