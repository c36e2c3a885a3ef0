"""Pages of the wiki that are mostly tables, made from short lists of facts."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple


class Draft(NamedTuple):
    """A page: its name, authors (the first made it), the day it was made and its text."""

    page: str
    authors: tuple[str, ...]
    made: str
    text: str


class Person(NamedTuple):
    """Somebody with a log-in."""

    login: str
    name: str
    role: str
    place: str
    extension: str
    groups: str


PEOPLE = [
    Person("ruth.penhallow", "Ruth Penhallow", "Centre Director", "Office", "201", "admin,hr,managers,user"),
    Person("anjali.rao", "Anjali Rao", "Deputy Director", "Office", "202", "hr,managers,user"),
    Person("hattie.moss", "Hattie Moss", "Bookings Coordinator", "Office", "203", "office,user"),
    Person("gwen.tyrell", "Gwen Tyrell", "HR and Payroll Officer", "Office", "204", "hr,office,user"),
    Person("peter.lowther", "Peter Lowther", "Finance Officer", "Office", "205", "office,user"),
    Person("owen.strickland", "Owen Strickland", "IT Officer", "Office", "206", "admin,user"),
    Person("fiona.garth", "Fiona Garth", "Safety Adviser", "Office", "207", "managers,user"),
    Person("isla.rigg", "Isla Rigg", "Receptionist", "Reception", "200", "office,user"),
    Person("callum.frear", "Callum Frear", "Head of Teaching", "Map Room", "210", "managers,tutors,user"),
    Person("dafydd.pryce", "Dafydd Pryce", "Senior Field Tutor", "Map Room", "211", "tutors,user"),
    Person("martin.holt", "Martin Holt", "Field Tutor", "Map Room", "214", "tutors,user"),
    Person("rafe.thornton", "Rafe Thornton", "Field Tutor", "Map Room", "215", "tutors,user"),
    Person("priya.nair", "Priya Nair", "Laboratory Technician", "Laboratory", "216", "tutors,user"),
    Person("mei.chua", "Mei Chua", "Field Tutor", "Library", "217", "tutors,user"),
    Person("marcus.ebo", "Marcus Ebo", "Apprentice Tutor", "Map Room", "218", "tutors,user"),
    Person("ines.moreira", "Ines Moreira", "Field Tutor", "Laboratory", "219", "tutors,user"),
    Person("yusuf.amin", "Yusuf Amin", "Projects Officer", "Library", "220", "user"),
    Person("clara.whin", "Clara Whin", "Volunteer Coordinator", "Library", "221", "user"),
    Person("tom.askew", "Tom Askew", "Maintenance Lead", "Workshop", "230", "estates,managers,user"),
    Person("sam.ullock", "Sam Ullock", "Grounds and Boats Technician", "Boathouse", "231", "estates,user"),
    Person("lena.birkett", "Lena Birkett", "Head Cook", "Kitchen", "240", "kitchen,user"),
    Person("joel.dacre", "Joel Dacre", "Second Cook", "Kitchen", "241", "kitchen,user"),
    Person("nell.sandys", "Nell Sandys", "Kitchen Assistant", "Kitchen", "242", "kitchen,user"),
    Person("kate.ormerod", "Kate Ormerod", "Housekeeping Lead", "Main House", "250", "estates,user"),
    Person("bogdan.ilie", "Bogdan Ilie", "Housekeeper", "Main House", "251", "estates,user"),
    Person("george.tate", "George Tate", "Chair of Trustees", "", "", "trustees,user"),
    Person("sylvia.brand", "Sylvia Brand", "Treasurer", "", "", "trustees,user"),
    Person("idris.bowen", "Idris Bowen", "Trustee", "", "", "trustees,user"),
]


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in the wiki's notation."""
    lines = ["^ " + " ^ ".join(header) + " ^"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _facts(text: str) -> list[list[str]]:
    return [[part.strip() for part in line.split(";")] for line in text.strip().splitlines()]


CONTACTS = {
    "suppliers": (
        "Suppliers",
        "hattie.moss, peter.lowther, lena.birkett",
        "Company; What; Telephone; Customer number; Remarks",
        """
Beckside Outdoor; boots and waterproofs; 01539 820417; TFS-1182; 10 per cent off above £500
Birchall Dairy; milk, butter, cheese; 01524 771203; 40516; called in January
Brightwell Scientific; glassware, reagents; 0113 496 0155; C-88214; quotes within two days
Calder Linen Hire; bed linen and towels; 01282 550316; 7730; collects Mondays and Fridays
Fell Side Bakery; bread and rolls; 015394 55612; none; ask for Denise
Greenhow Fuels; heating oil, red diesel; 01539 734988; GH-2041; five days' notice
Halden Marine; outboards and spares; 015394 88270; 1907; closed in January
Ironbridge Safety; extinguishers, signs; 01952 430177; 55-310; yearly inspection in March
Kelder Office Supplies; paper, toner; 01539 720645; TARN01; next-day delivery
Lowgill Butchers; meat; 01539 824209; 212; orders by Monday noon
Marlow Greens; fruit and vegetables; 01524 770962; 3384; delivers before breakfast in July
Northern Dry Goods; flour, tins, pulses; 0161 496 0733; N-60027; minimum order £350
Penrose Instruments; probes, meters, calibration; 01326 555084; PI-4471; two weeks for calibration
Skelgill Timber; planks, posts, gravel; 015394 41188; 640; lorry must be under 7.5 tonnes
""",
    ),
    "schools": (
        "Schools",
        "hattie.moss, dafydd.pryce",
        "School; Town; Contact; Telephone; Usual month; Pupils last visit",
        """
Aldmoor Academy; Preston; Mr J. Whittle; 01772 496201; January; 49
Ashworth Lane Primary; Bolton; Mrs S. Kaur; 01204 496330; June; 58
Brackenhurst College; Leeds; Dr L. Voss; 0113 496 0822; November; 33
Castle Hill School; Lancaster; Ms R. Adeyemi; 01524 770114; March; 41
Dunstan Street Juniors; Carlisle; Mr P. Noble; 01228 496018; May; 64
Eastgate High School; Durham; Mrs A. Pickering; 0191 496 0457; April; 37
Hallam Park Primary; Sheffield; Miss T. Osei; 0114 496 0291; October; 61
Kelder Bridge School; Kelder Bridge; Mr D. Rowan; 015394 55108; February; 57
Linfield Girls' School; Harrogate; Ms C. Hartley; 01423 496670; September; 44
Moorside Community College; Bradford; Mr I. Hussain; 01274 496512; July; 72
Northbrook Sixth Form; Newcastle; Dr E. Lamb; 0191 496 0733; September; 28
Oakwell Primary; Wakefield; Mrs B. Denby; 01924 496145; May; 55
Riverside Academy; Stockport; Mr K. Yeo; 0161 496 0284; June; 67
St Wilfrid's High School; Blackburn; Mrs M. Duggan; 01254 496909; September; 46
Thornley Grammar; York; Mr S. Blythe; 01904 496377; April; 39
Whitestone School; Hexham; Ms F. Charlton; 01434 496021; March; 31
""",
    ),
    "universities": (
        "Universities",
        "callum.frear, ines.moreira",
        "University; Department; Contact; Mail; Students",
        """
University of Penrose; Geography; Prof H. Lindqvist; h.lindqvist@penrose.example; 38
University of Penrose; Biology; Dr N. Achebe; n.achebe@penrose.example; 24
Calderdale University; Environmental science; Dr P. Roth; p.roth@calderdale.example; 52
Kingsmere University; Ecology; Dr A. Varga; a.varga@kingsmere.example; 31
Solway Institute; Hydrology; Dr J. Maddox; j.maddox@solway.example; 18
Wharfe College; Outdoor education; Ms G. Petrie; g.petrie@wharfe.example; 27
""",
    ),
    "transport": (
        "Coaches and taxis",
        "hattie.moss, isla.rigg",
        "Company; Kind; Largest vehicle; Telephone; Remarks",
        """
Bannerdale Coaches; coach; 53 seats; 01539 740311; knows the lower gate
Elterbeck Taxis; taxi; 8 seats; 015394 55200; until midnight
Fellrunner Minibuses; minibus hire; 16 seats; 01539 722640; licence check takes a day
Kelder Cabs; taxi; 4 seats; 015394 55099; wheelchair car on request
Lakeway Travel; coach; 70 seats; 01524 770880; double-decker cannot pass the bridge
Rydale Executive; coach; 33 seats; 01768 496204; wheelchair lift
""",
    ),
    "landowners": (
        "Landowners and access",
        "rafe.thornton, yusuf.amin",
        "Land; Owner; Telephone; Permission until; Condition",
        """
Birk Crag quarry; Skelgill Estate; 015394 41020; 2026-12-31; helmets, groups below 15
Elterbeck Meadows; Mr and Mrs Postlethwaite; 015394 55417; 2026-03-31; not in the lambing weeks
Fox Gill; Forestry office; 01768 496551; 2027-06-30; tell them the day before
High Moss; Commoners' council; 015394 41733; 2026-09-30; boardwalk only from April to July
Peel Island; Tarn Trust; 01539 734020; 2025-12-31; no landing in the nesting season
Rough Close; Mrs E. Tyson; 015394 55731; 2028-01-31; dogs on leads, shut the gates
""",
    ),
    "contractors": (
        "Contractors",
        "tom.askew",
        "Firm; Trade; Telephone; Insurance until; Last job",
        """
A. Bewley and Son; roofs; 01539 720119; 2026-05-31; slates on the Barn
Borrow Electrical; electrics; 01539 733208; 2026-09-15; testing of appliances
Crook Drainage; drains and septic tank; 015394 88431; 2026-02-28; tank emptied
Dent Lifts; lift; 01539 734410; 2026-11-30; half-yearly service
Esk Plumbing; plumbing and heating; 01539 724667; 2027-01-31; shower mixers, east wing
Howgill Alarms; fire and intruder alarms; 01539 740772; 2026-08-20; new call point
Mint Tree Care; trees; 015394 41355; 2026-04-30; ash by the car park
""",
    ),
    "press": (
        "Press and partners",
        "yusuf.amin, ruth.penhallow",
        "Organisation; Contact; Telephone; Remarks",
        """
County Wildlife Trust; Beth Sowerby; 01539 816300; joint squirrel count
Kelder Gazette; Aidan Roper; 015394 55870; deadline Tuesday noon
Lakeland Radio; newsroom; 01539 737380; only through the director
National Park office; Imogen Hale; 01539 724555; ranger days
Tarn Trust; Edwin Farrar; 01539 734020; owner of Peel Island
""",
    ),
}

INVENTORY = {
    "laboratory": (
        "Laboratory",
        "priya.nair, ines.moreira, priya.nair",
        "Item; Quantity; Cupboard; Calibrated; Condition",
        """
Binocular microscope; 18; A1; 2025-09-04; good
Stereo microscope; 24; A2; 2025-09-04; good
Digital microscope; 2; A2; 2025-09-05; good
pH meter, bench; 3; B1; 2026-01-12; good
pH meter, field; 14; B1; 2026-01-13; fair
Conductivity meter; 8; B2; 2025-11-18; good
Oxygen meter; 6; B2; 2025-11-19; two need new membranes
Turbidity tube; 12; B3; ; good
Colorimeter; 4; B4; 2025-10-07; good
Balance, 0.01 g; 5; C1; 2025-06-24; good
Balance, 0.001 g; 1; C1; 2025-06-24; good
Centrifuge; 1; C2; 2025-03-11; fair
Drying oven; 2; C3; 2025-03-11; good
Muffle furnace; 1; C3; 2024-11-28; door seal worn
Hot plate with stirrer; 7; C4; ; good
Distilled water plant; 1; D1; 2025-05-15; good
Measuring cylinder, 100 ml; 36; D2; ; good
Beaker, 250 ml; 60; D2; ; good
Conical flask, 250 ml; 42; D3; ; good
Pipette, automatic; 10; D4; 2025-12-02; good
""",
    ),
    "fieldwork": (
        "Fieldwork equipment",
        "priya.nair, martin.holt",
        "Item; Quantity; Shelf; Last counted; Remarks",
        """
Pond net, green tape; 34; F1; 2026-01-20; for the tarn only
Kick net, white tape; 28; F1; 2026-01-20; for streams only
Surber sampler; 6; F2; 2026-01-20; one with torn mesh
White tray; 70; F2; 2026-01-20;
Quadrat, half metre; 32; F3; 2025-10-14;
Quadrat, point frame; 8; F3; 2025-10-14;
Ranging pole; 26; F4; 2025-10-14;
Clinometer; 19; F4; 2025-10-14; two missing since June
Tape measure, 30 m; 40; F5; 2025-10-15;
Flow meter; 9; F5; 2026-01-21; spare impellers in the tin
Soil auger; 12; F6; 2025-10-15;
Infiltration ring; 15; F6; 2025-10-15;
Compass; 55; F7; 2025-10-16;
Anemometer; 11; F7; 2025-10-16;
Bat detector; 16; F8; 2025-08-26; batteries out in winter
Longworth mammal trap; 48; F9; 2025-09-30; hay and seed in the bin beside it
""",
    ),
    "boats": (
        "Boats",
        "sam.ullock, fiona.garth, sam.ullock",
        "Name; Type; Persons; Engine; Inspected; Condition",
        """
Curlew; safety boat; 8; Mariner 30 hp; 2025-03-27; good
Dipper; work boat; 8; Honda 15 hp; 2025-03-27; good
Teal; rowing boat; 6; none; 2025-04-03; good
Pochard; rowing boat; 6; none; 2025-04-03; rowlock loose
Wigeon; rowing boat; 6; none; 2025-04-04; good
Merganser; canoe; 3; none; 2025-04-10; good
Grebe; canoe; 3; none; 2025-04-10; patched at the bow
Shoveler; canoe; 3; none; 2025-04-10; good
Pintail; canoe; 3; none; 2024-04-18; out of use
""",
    ),
    "vehicles": (
        "Vehicles",
        "sam.ullock, tom.askew, peter.lowther",
        "Registration; Vehicle; Seats; Mileage; MOT until; Kept at",
        """
PX19 KLT; Ford Transit minibus; 17; 84210; 2026-05-14; lower car park
PX21 RVA; Ford Transit minibus; 17; 52675; 2026-08-02; lower car park
PN17 HHE; Peugeot Boxer minibus; 15; 118940; 2026-03-21; lower car park
PJ22 WCO; Vauxhall Vivaro; 9; 31480; 2026-10-09; yard
PK68 DZN; Land Rover Defender; 5; 97355; 2026-04-27; workshop
PO23 YMB; Renault Kangoo, electric; 2; 14820; 2026-11-30; charging point
PL15 TUF; Kubota utility vehicle; 2; 6120; not needed; workshop
PM20 BGS; Ifor Williams trailer; 0; ; not needed; boathouse yard
""",
    ),
    "radios": (
        "Radios",
        "fiona.garth, isla.rigg",
        "No.; Model; Serial number; Charger; Condition",
        """
1; Motorola DP4400; 871TSX0412; reception; good
2; Motorola DP4400; 871TSX0413; reception; good
3; Motorola DP4400; 871TSX0419; reception; aerial replaced
4; Motorola DP4400; 871TSX0420; reception; good
5; Motorola DP4400; 871TSX0433; Map Room; good
6; Motorola DP4400; 871TSX0434; Map Room; battery weak
7; Hytera PD505; 18B25A0071; Map Room; good
8; Hytera PD505; 18B25A0072; Map Room; good
9; Hytera PD505; 18B25A0075; Boathouse; good
10; Hytera PD505; 18B25A0080; Boathouse; battery weak
11; Hytera PD505; 18B25A0081; kitchen; good
12; Icom IC-M37; M37-220915; Boathouse; floats, for boats only
13; Icom IC-M37; M37-220916; Boathouse; floats, for boats only
""",
    ),
    "first_aid": (
        "First-aid kits",
        "fiona.garth, priya.nair",
        "Kit; Place; Size; Checked; Expires first",
        """
A; Reception; large; 2026-02-02; 2026-09-30
B; Kitchen; large; 2026-02-02; 2026-06-30
C; Laboratory; large; 2026-02-03; 2027-01-31
D; Workshop; large; 2026-02-03; 2026-11-30
E; Boathouse; medium; 2026-02-03; 2026-04-30
F; Minibus PX19 KLT; small; 2026-01-15; 2026-08-31
G; Minibus PX21 RVA; small; 2026-01-15; 2027-03-31
H; Minibus PN17 HHE; small; 2026-01-15; 2026-05-31
I; Barn; medium; 2025-12-08; 2026-12-31
J; Field kit, red; small; 2025-12-08; 2026-07-31
K; Field kit, orange; small; 2025-12-08; 2026-03-31
L; Field kit, yellow; small; 2025-12-09; 2026-10-31
""",
    ),
    "kitchen": (
        "Kitchen equipment",
        "lena.birkett, tom.askew",
        "Item; Make; Bought; Price; Serviced by",
        """
Combination oven; Rational iCombi; 2022-02-15; £9,480; Borrow Electrical
Range, six burners; Falcon Dominator; 2016-08-30; £3,150; Esk Plumbing
Pass-through dishwasher; Winterhalter PT; 2020-01-21; £6,720; Borrow Electrical
Planetary mixer; Hobart HSM20; 2018-11-05; £2,390; Borrow Electrical
Potato peeler; Imperial IP10; 2014-03-12; £1,180; Tom Askew
Hot cupboard; Victor Sceptre; 2019-06-18; £1,645; Tom Askew
Slicer; Berkel Red Line; 2021-09-09; £865; Tom Askew
Water boiler; Lincat FilterFlow; 2023-05-04; £720; Esk Plumbing
""",
    ),
    "it_hardware": (
        "Computer hardware",
        "owen.strickland, yusuf.amin",
        "Tag; Device; User or room; Bought; Guarantee until",
        """
TC-031; Dell Latitude 5440; Ruth Penhallow; 2024-03-19; 2027-03-18
TC-032; Dell Latitude 5440; Anjali Rao; 2024-03-19; 2027-03-18
TC-033; Dell OptiPlex 7010; Reception; 2024-03-19; 2027-03-18
TC-034; Dell OptiPlex 7010; Hattie Moss; 2024-04-02; 2027-04-01
TC-035; Dell OptiPlex 7010; Peter Lowther; 2024-04-02; 2027-04-01
TC-036; Lenovo ThinkPad L14; Callum Frear; 2023-10-11; 2026-10-10
TC-037; Lenovo ThinkPad L14; Dafydd Pryce; 2023-10-11; 2026-10-10
TC-038; Lenovo ThinkPad L14; Martin Holt; 2023-10-11; 2026-10-10
TC-039; Lenovo ThinkPad L14; Mei Chua; 2023-10-11; 2026-10-10
TC-040; Lenovo ThinkPad L14; Rafe Thornton; 2025-01-22; 2028-01-21
TC-041; Lenovo ThinkPad L14; Ines Moreira; 2025-01-22; 2028-01-21
TC-042; HP ProDesk 400; Laboratory; 2021-06-08; ended
TC-043; HP ProDesk 400; Library; 2021-06-08; ended
TC-044; HP ProDesk 400; Kitchen; 2021-06-08; ended
TC-045; Synology DS923; Server room; 2023-02-14; 2028-02-13
TC-046; Cisco CBS350 switch; Server room; 2022-09-27; for life
TC-047; APC battery, 1500 VA; Server room; 2022-09-27; 2025-09-26
TC-048; Davis Vantage weather station; Roof of Main House; 2020-05-06; ended
""",
    ),
    "tools": (
        "Tools",
        "tom.askew, sam.ullock",
        "Tool; Quantity; Place; Tested; Who may use it",
        """
Chainsaw; 2; Workshop cage; 2025-11-06; ticket holders
Brush cutter; 3; Workshop cage; 2025-11-06; estates
Hedge trimmer; 2; Workshop cage; 2025-11-06; estates
Bench grinder; 1; Workshop; 2025-11-07; estates
Circular saw; 1; Workshop; 2025-11-07; estates
Cordless drill; 6; Workshop; 2025-11-07; all staff
Mattock; 9; Tool shed; ; all staff and volunteers
Loppers; 14; Tool shed; ; all staff and volunteers
Spade; 22; Tool shed; ; all staff and volunteers
Bow saw; 17; Tool shed; ; all staff and volunteers
Wheelbarrow; 5; Tool shed; ; all staff and volunteers
Ladder, 4 m; 2; Barn; 2025-05-19; ladder course
Tower scaffold; 1; Barn; 2025-05-19; tower ticket
""",
    ),
    "library": (
        "Library",
        "clara.whin, mei.chua",
        "Shelf mark; Title; Author; Year; Copies",
        """
BOT-01; Grasses of upland pastures; M. Fairhurst; 2009; 6
BOT-02; Mosses of wet woods; E. Tolland; 2014; 4
BOT-03; Ferns, a field key; R. Quayle; 2018; 12
FRE-01; Stream invertebrates to family level; P. Sedge; 2016; 30
FRE-02; Life in a mountain tarn; O. Brathay; 1987; 2
FRE-03; Diatoms under the microscope; L. Okafor; 2021; 5
GEO-01; Reading glacial landscapes; S. Cragg; 2011; 9
GEO-02; Rivers and their shapes; D. Alder; 2005; 7
GEO-03; Walking the volcanic rocks; H. Scarth; 1998; 3
MAM-01; Bats and how to hear them; C. Noctule; 2019; 8
MAM-02; Red squirrels in the north; J. Pinewood; 2020; 2
ORN-01; Birds of lake and shore; T. Garganey; 2013; 15
ORN-02; Songs of woodland birds; A. Redstart; 2007; 4
SOI-01; Soil in the hand; V. Loam; 2012; 10
""",
    ),
    "waterproofs": (
        "Waterproofs and boots",
        "kate.ormerod, priya.nair",
        "Kind; Size; Number; To repair; Reproofed",
        """
Jacket; child 9-10; 40; 3; 2025-12-04
Jacket; child 11-12; 46; 5; 2025-12-04
Jacket; adult S; 52; 2; 2025-12-05
Jacket; adult M; 48; 7; 2025-12-05
Jacket; adult L; 34; 1; 2025-12-05
Jacket; adult XL; 18; 0; 2025-12-05
Trousers; child; 74; 11; 2025-12-08
Trousers; adult; 96; 8; 2025-12-08
Boots; 2 to 4; 58; 0; not done
Boots; 5 to 7; 81; 4; not done
Boots; 8 to 10; 63; 2; not done
Boots; 11 to 13; 19; 1; not done
Chest waders; adult; 16; 6; not done
""",
    ),
    "keys": (
        "Keys and locks",
        "tom.askew, isla.rigg, tom.askew",
        "Key; Opens; Copies; Holder of the spare",
        """
1; Main House, front door; 6; reception safe
2; Main House, east door; 5; reception safe
3; Office wing; 8; Ruth Penhallow
4; Kitchen and pantry; 5; Lena Birkett
5; Laboratory; 7; Priya Nair
6; Chemical store; 2; Priya Nair
7; Library; 4; Clara Whin
8; Boathouse; 5; Sam Ullock
9; Fuel store; 2; Sam Ullock
10; Workshop; 4; Tom Askew
11; Barn; 6; Tom Askew
12; Larch Cottage; 11; Kate Ormerod
13; Stables; 4; Kate Ormerod
14; Server room; 3; Owen Strickland
15; Boiler room; 3; Tom Askew
16; First-aid room; 5; Fiona Garth
""",
    ),
}

KITCHEN = {
    "stock": (
        "Stock",
        "joel.dacre, nell.sandys, lena.birkett, joel.dacre",
        "Article; Unit; In stock; Order below; Supplier",
        """
Plain flour; 16 kg bag; 5; 3; Northern Dry Goods
Porridge oats; 10 kg bag; 2; 4; Northern Dry Goods
Red lentils; 5 kg bag; 7; 4; Northern Dry Goods
Basmati rice; 20 kg bag; 3; 2; Northern Dry Goods
Penne; 5 kg bag; 6; 8; Northern Dry Goods
Chopped tomatoes; 2.5 kg tin; 31; 24; Northern Dry Goods
Kidney beans; 2.5 kg tin; 9; 10; Northern Dry Goods
Vegetable oil; 20 l drum; 2; 1; Northern Dry Goods
Semi-skimmed milk; 13 l pergal; 4; 3; Birchall Dairy
Butter; 250 g; 38; 40; Birchall Dairy
Mild cheddar; 5 kg block; 3; 2; Birchall Dairy
Eggs; tray of 30; 11; 6; Fell Side Bakery
Potatoes; 25 kg sack; 6; 4; Marlow Greens
Carrots; 10 kg sack; 2; 3; Marlow Greens
Apples; box of 100; 3; 2; Marlow Greens
Tea bags; box of 1,100; 4; 2; Northern Dry Goods
""",
    ),
    "menus": (
        "Menus of four weeks",
        "lena.birkett, joel.dacre",
        "Day; Week 1; Week 2; Week 3; Week 4",
        """
Monday; Lentil shepherd's pie; Vegetable chilli; Macaroni cheese; Chicken and leek bake
Tuesday; Chicken and leek bake; Chickpea curry; Beef stew and dumplings; Vegetable chilli
Wednesday; Macaroni cheese; Fish pie; Mushroom stroganoff; Chickpea curry
Thursday; Beef stew and dumplings; Mushroom stroganoff; Lentil shepherd's pie; Nut roast
Friday; Fish pie; Chicken and leek bake; Fish pie; Fish pie
Saturday; Vegetable chilli; Nut roast; Chickpea curry; Macaroni cheese
Sunday; Nut roast; Beef stew and dumplings; Chicken and leek bake; Lentil shepherd's pie
""",
    ),
}

COURSES = _facts("""
river_study;River study;Dafydd Pryce;11 to 14;2;£68;30;flow meter, kick nets;From source to bridge: width, \
depth and speed
tarn_ecology;Tarn ecology;Martin Holt;14 to 18;3;£97;24;pond nets, oxygen meters;Zones of the shore and what \
lives in them
glacial_landscapes;Glacial landscapes;Rafe Thornton;14 to 18;3;£94;36;clinometers, maps;Moraines and hanging \
valleys on foot
minibeasts;Minibeasts;Marcus Ebo;6 to 10;1;£24;45;trays, hand lenses;A day for small hands under logs and leaves
woodland_survey;Woodland survey;Ines Moreira;11 to 16;2;£71;30;quadrats, tapes;Transects through oak and larch
night_walk;Night walk;Mei Chua;8 to 12;1;£12;20;bat detectors;Owls, bats and stars after supper
soil_and_water;Soil and water;Priya Nair;16 to 18;2;£79;22;augers, infiltration rings;How rain goes through \
different soils
orienteering;Orienteering;Rafe Thornton;9 to 14;1;£19;40;compasses;Maps and compass round the estate
mammal_trapping;Mammal trapping;Yusuf Amin;adults;2;£128;12;mammal traps;Handling and recording of small mammals
stream_identification;Stream identification;Martin Holt;adults;3;£185;14;stereo microscopes;Invertebrates to \
family level for recorders
coast_day;Coast day;Dafydd Pryce;11 to 16;1;£33;48;ranging poles;By coach to the dunes at Sandscale
teachers_weekend;Teachers' weekend;Callum Frear;adults;2;£145;18;all;What you can do with a class here
""")

BUILDINGS = _facts("""
main_house;Main House;1872;64;oil boiler;Kate Ormerod;East wing 1, 12, yes;East wing 2, 14, no;West wing 1, \
16, no;West wing 2, 16, no;Garden room, 6, yes
larch_cottage;Larch Cottage;1908;9;electric;Kate Ormerod;Ground floor, 3, yes;First floor, 4, no;Attic, 2, no
stables;Stables;1880;26;oil boiler;Kate Ormerod;Hayloft, 10, no;Tack room, 8, yes;Flat A, 4, no;Flat B, 4, no
barn;Barn;1840;0;none;Tom Askew;Threshing floor, 0, yes;Loft, 0, no
laboratory;Laboratory;1994;0;electric;Priya Nair;Wet laboratory, 0, yes;Dry laboratory, 0, yes;Chemical store, 0, no
boathouse;Boathouse;1926;0;none;Sam Ullock;Slipway, 0, yes;Store, 0, no
library;Library;1872;0;oil boiler;Clara Whin;Reading room, 0, yes;Herbarium, 0, no
workshop;Workshop;1961;0;wood stove;Tom Askew;Machine room, 0, yes;Paint store, 0, no
tarn_lodge;Tarn Lodge;2011;32;heat pump;Kate Ormerod;Alder, 8, yes;Birch, 8, yes;Rowan, 8, no;Willow, 8, no
""")

SAFETY = _facts("""
stream_work;Stream work;Dafydd Pryce;2025-09-01;slipping on stones,medium,boots with grip and a stick;cold \
water,high,spare clothes and a limit of 60 minutes;Weil's disease,low,wash hands and cover cuts
tarn_boats;Boats on the tarn;Sam Ullock;2025-03-28;falling in,high,buoyancy aids and safety \
boat;wind,medium,limit of 18 knots;engine,medium,cut-off cord
hill_walks;Hill walks;Rafe Thornton;2025-09-02;getting lost,low,two maps and a second \
leader;weather,high,forecast at 08:00;falls,medium,route avoids crags
laboratory_work;Laboratory work;Priya Nair;2025-10-10;acid,medium,goggles and gloves;broken \
glass,medium,brush and bin;hot plates,low,sign when hot
night_walks;Night walks;Mei Chua;2025-10-03;tripping,medium,torches and slow \
pace;cold,low,hats;straying,medium,count at each stop
minibus_trips;Minibus trips;Sam Ullock;2025-01-30;accident on the road,high,approved drivers only;seat \
belts,medium,tutor checks each row
woodland;Woodland;Ines Moreira;2025-06-12;falling branches,medium,closed above 30 mph;ticks,medium,long \
trousers and check in the evening
quarry;Quarry visits;Rafe Thornton;2024-11-20;falling stones,high,helmets and ten metres from \
faces;vehicles,low,meet at the gate
kitchen_work;Kitchen work;Lena Birkett;2025-02-18;burns,medium,dry cloths;slips,medium,mop at \
once;knives,medium,rack and no glass sink
tree_work;Tree work;Tom Askew;2025-11-06;chainsaw,high,ticket holders in pairs;falling trees,high,two tree \
lengths clear
volunteers_days;Volunteer days;Clara Whin;2025-04-22;tools,medium,briefing and gloves;lifting,low,two to a log
""")

PROJECTS = _facts("""
tarn_monitoring;Tarn monitoring;Priya Nair;Five places are sampled to see whether the new septic tank lowers \
phosphate in the tarn.
red_squirrels;Red squirrel count;Yusuf Amin;Feeders with cameras at six stations, read every second week with \
the County Wildlife Trust.
hay_meadow;Hay meadow restoration;Clara Whin;Green hay from Rough Close is spread on three fields and cut \
after 20 July.
new_boiler;Wood-chip boiler;Tom Askew;A boiler for Main House and the Stables with chips from our own thinnings.
peat_dams;Peat dams on the moss;Rafe Thornton;Ninety small dams raise the water on High Moss, and students \
measure the level in dip wells.
accessible_trail;Accessible shore trail;Sam Ullock;A path of 640 metres for wheelchairs from the lower car \
park to the jetty.
herbarium;Herbarium digitisation;Ines Moreira;Photographs and labels of 3,200 sheets from 1891 to 1964.
night_sky;Dark sky certificate;Mei Chua;Outside lamps are changed and the darkness measured each new moon.
booking_online;Online booking for families;Hattie Moss;Families book holiday weeks themselves, schools go on \
by telephone.
""")

STEPS = [
    "Permission asked",
    "First survey done",
    "Equipment bought",
    "Volunteers trained",
    "Interim report",
    "Visit of the funder",
    "Half of the work done",
    "Final report",
]

ACTIONS = _facts("""
tom.askew;Get two quotes for the gutters of the Stables
tom.askew;Repair the side door of the east wing
tom.askew;Bleed the radiators in the Library
tom.askew;Replace the lamp over the lower gate
tom.askew;Fit a handrail at the Barn steps
tom.askew;Ask Esk Plumbing about the shower in Tarn Lodge
tom.askew;Clear the drain behind the kitchen
sam.ullock;Sand the slipway
sam.ullock;Order a new rowlock for Pochard
sam.ullock;Mark the shallow rocks with buoys
sam.ullock;Cut back the brambles at the upper car park
sam.ullock;Grease the winch
sam.ullock;Book the MOT of the Peugeot minibus
priya.nair;Send the oxygen meters to Penrose Instruments
priya.nair;Dispose of the old reagents
priya.nair;Order membranes for the oxygen meters
priya.nair;Label the cupboards in the dry laboratory
martin.holt;Write the key for mayfly larvae
martin.holt;Count the pond nets
martin.holt;Plan the recorders' day
martin.holt;Check the route to the peat pools
rafe.thornton;Renew the permission for Peel Island
rafe.thornton;Walk the new orienteering course
rafe.thornton;Talk to Mrs Tyson about the gate
mei.chua;Measure the light at the car parks
mei.chua;Buy red filters for head torches
mei.chua;Catalogue the gift of books
dafydd.pryce;Draft the timetable for the autumn
dafydd.pryce;Ask Bannerdale Coaches about a later pick-up
dafydd.pryce;Review the welcome talk
callum.frear;Interview for the apprentice place
callum.frear;Agree dates with the University of Penrose
callum.frear;Collect the feedback sheets of the term
hattie.moss;Call schools that have not paid the deposit
hattie.moss;Offer free weeks in February to colleges
hattie.moss;Send the dietary sheet with the confirmation
owen.strickland;Replace the battery in the server room
owen.strickland;Move the wireless point in the Library
owen.strickland;Install mapping software on the new laptops
owen.strickland;Make accounts for seasonal tutors
lena.birkett;Try two new vegan dishes
lena.birkett;Ask Marlow Greens about earlier delivery
lena.birkett;Update the allergen sheet
joel.dacre;Count the trays and order twenty
nell.sandys;Label the shelves of the dry store
kate.ormerod;Order mattress covers for Tarn Lodge
kate.ormerod;Count the blankets
kate.ormerod;Sort out the drying room
fiona.garth;Check the dates in all first-aid kits
fiona.garth;Arrange the outdoor first-aid course
fiona.garth;Update the risk assessment for quarry visits
isla.rigg;Print the new telephone list
isla.rigg;Replace the lanyards
peter.lowther;Compare prices for heating oil
peter.lowther;Close the accounts of the quarter
gwen.tyrell;Advertise the post of seasonal tutor
gwen.tyrell;Check who has days of leave left
yusuf.amin;Put the course dates on the web site
yusuf.amin;Order batteries for the squirrel cameras
clara.whin;Invite volunteers to the hay day
clara.whin;Find a speaker for the winter talk
""")

REPORTS = [
    "Bookings stand at {0} per cent of last year's for the same weeks.",
    "The kitchen served {1} meals since the last meeting.",
    "The boiler failed for {2} hours and was restarted by Tom Askew.",
    "{3} pupils were here in the fortnight, from {4} schools.",
    "The new boots have arrived and are numbered.",
    "A teacher praised the night walk in the feedback sheets.",
    "The wireless in the Tarn Room is better since the new cable.",
    "Two near misses were reported, both on the steps of the Barn.",
    "The level of the tarn is {2} cm above the summer mark.",
    "Volunteers worked {5} hours on the meadow and the trail.",
    "The shop took £{1} and needs more maps.",
    "Oil stands at {0} per cent of the tank.",
]

DECISIONS = [
    "The drying room is locked from 21:30.",
    "Route cards are kept for a year.",
    "Packed lunches are ordered by 16:00, without exceptions.",
    "The Map Room gets new blinds.",
    "Groups of more than 60 have two evening meals.",
    "The upper car park is closed to coaches in snow.",
    "Tutors take turns with the weather board.",
    "The old projector goes to Kelder Bridge School.",
    "Radios are charged in the Map Room, not in the kitchen.",
    "The pond is not used before April.",
    "Visitors' dogs stay in the cars.",
    "There is no meeting in the week of half term.",
]

STAFF_MEETINGS = [
    "2025-02-05", "2025-02-26", "2025-03-12", "2025-03-26", "2025-04-09", "2025-04-30", "2025-05-14", "2025-05-28",
    "2025-06-18", "2025-07-09", "2025-08-27", "2025-09-10", "2025-09-24", "2025-10-08", "2025-10-22", "2025-11-05",
    "2025-11-19", "2025-12-03", "2025-12-17", "2026-01-14", "2026-01-28", "2026-02-11",
]  # fmt: skip
SAFETY_MEETINGS = ["2025-03-06", "2025-05-08", "2025-07-03", "2025-09-18", "2025-11-27", "2026-01-29"]
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


def day(date: str) -> str:
    """A date as it is written in headings."""
    year, month, number = date.split("-")
    return f"{int(number)} {MONTHS[int(month) - 1]} {year}"


def name_of(login: str) -> str:
    """The full name of a log-in."""
    return next(person.name for person in PEOPLE if person.login == login)


def login_of(name: str) -> str:
    """The log-in of a full name."""
    return next(person.login for person in PEOPLE if person.name == name)


def drafts(chance: Random) -> list[Draft]:
    """All pages that are made from facts."""
    made = [*_lists(), *_courses(chance), *_buildings(), *_safety(), *_projects(chance), *_minutes(chance)]
    staff = [
        (p.name, p.role, p.extension, p.place, f"{p.login}@tarnside.example")
        for p in sorted(PEOPLE, key=lambda p: p.name)
        if p.extension
    ]
    header = ("Name", "Post", "Extension", "Room", "Mail")
    text = "====== Staff telephone list ======\n\nDial 9 for an outside line; see [[it:telephones|Telephones]].\n\n"
    made.append(
        Draft(
            "contacts:staff",
            ("isla.rigg", "gwen.tyrell", "isla.rigg"),
            "2025-01-13",
            text + table(header, staff),
        )
    )
    return made


def _lists() -> list[Draft]:
    made: list[Draft] = []
    for space, pages, intro in (
        (
            "contacts",
            CONTACTS,
            "Kept by {0}. Please write down changes at once; old numbers cost everybody time.",
        ),
        ("inventory", INVENTORY, "Kept by {0}. Change the number when you break, lose or buy something."),
        ("kitchen", KITCHEN, "Kept by {0}; questions to extension 240."),
    ):
        for number, (page, (title, authors, header, rows)) in enumerate(pages.items()):
            logins = tuple(author.strip() for author in authors.split(","))
            head = [part.strip() for part in header.split(";")]
            text = (
                f"====== {title} ======\n\n{intro.format(name_of(logins[0]))}\n\n{table(head, _facts(rows))}"
            )
            made.append(Draft(f"{space}:{page}", logins, f"2025-02-{number + 5:02d}", text))
    items = "\n".join(f"  * [[inventory:{page}|{title}]]" for page, (title, *_) in INVENTORY.items())
    text = f"====== Inventory ======\n\nWhat the centre owns. Everything is counted once a year, in January.\n\n{items}"
    made.append(Draft("inventory:start", ("priya.nair", "tom.askew"), "2025-02-04", text))
    return made


def _courses(chance: Random) -> list[Draft]:
    made, overview = list[Draft](), list[tuple[str, ...]]()
    weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday"]
    for page, title, leader, ages, days, price, most, kit, aim in COURSES:
        facts = [
            ("Course leader", leader),
            ("Age", ages),
            ("Days", days),
            ("Price per person", price),
            ("Largest group", most),
            ("Equipment", kit),
        ]
        dates = sorted(
            f"2026-{chance.randint(3, 10):02d}-{chance.randint(1, 28):02d}"
            for _ in range(chance.randint(3, 6))
        )
        rows = [
            (date, chance.choice(weekdays[:2] if int(days) > 2 else weekdays), chance.randint(2, int(most)))
            for date in dict.fromkeys(dates)
        ]
        rows = [(date, booked) for date, _, booked in rows]
        text = (
            f"====== {title} ======\n\n{aim}.\n\n===== At a glance =====\n\n{table(('Fact', 'Value'), facts)}\n\n"
            f"===== Dates in 2026 =====\n\n{table(('Begins', 'Places booked'), rows)}\n\n"
            "===== Before the course =====\n\n"
            "  * Group sheet and medical forms two weeks ahead\n"
            "  * Read the [[safety:start|risk assessment]] and sign it\n"
            "  * [[procedures:biosecurity|Check, clean, dry]] for everything that goes into water"
        )
        login = login_of(leader)
        made.append(Draft(f"courses:{page}", (login, "callum.frear", login), "2025-04-01", text))
        overview.append((f"[[courses:{page}|{title}]]", leader, ages, days, price))
    text = "====== Courses ======\n\nPrices are for each person, without board.\n\n"
    text += table(("Course", "Leader", "Age", "Days", "Price"), sorted(overview))
    made.append(Draft("courses:start", ("callum.frear", "hattie.moss"), "2025-03-31", text))
    return made


def _buildings() -> list[Draft]:
    made, overview = list[Draft](), list[tuple[str, ...]]()
    plans = {"main_house", "tarn_lodge", "boathouse", "laboratory"}
    for page, title, built, beds, heating, keeper, *rooms in BUILDINGS:
        facts = [("Built", built), ("Beds", beds), ("Heating", heating), ("Looked after by", keeper)]
        rows = [tuple(part.strip() for part in room.split(",")) for room in rooms]
        text = f"====== {title} ======\n\n{table(('Fact', 'Value'), facts)}\n\n===== Rooms =====\n\n"
        text += table(("Room", "Beds", "Step-free"), rows)
        text += (
            "\n\n===== Faults =====\n\nTell Tom Askew on extension 230, or write into the book at reception."
        )
        if page in plans:
            text += f"\n\n===== Plan =====\n\n{{{{buildings:plan_{page}.png|Plan of {title}}}}}"
        if page == "main_house":
            text += "\n\n===== Boiler =====\n\n"
            text += "If the pressure is below 1.2 bar, open the blue tap slowly until it is 1.5 bar."
        made.append(Draft(f"buildings:{page}", ("tom.askew", login_of(keeper)), "2025-02-18", text))
        overview.append((f"[[buildings:{page}|{title}]]", built, beds, heating, keeper))
    text = "====== Buildings ======\n\n"
    text += table(("Building", "Built", "Beds", "Heating", "Looked after by"), overview)
    text += "\n\nThe site map is {{buildings:site_map.png?linkonly|here}}."
    made.append(Draft("buildings:start", ("tom.askew",), "2025-02-17", text))
    return made


def _safety() -> list[Draft]:
    made, overview = list[Draft](), list[tuple[str, ...]]()
    for page, title, author, reviewed, *hazards in SAFETY:
        rows = [tuple(part.strip() for part in hazard.split(",")) for hazard in hazards]
        following = f"{int(reviewed[:4]) + 1}{reviewed[4:]}"
        text = (
            f"====== Risk assessment: {title} ======\n\n**Written by:** {author}\\\\\n**Reviewed:** {reviewed}\\\\\n"
            f"**Next review:** {following}\n\n"
            f"===== Hazards =====\n\n{table(('Hazard', 'Risk', 'What we do'), rows)}\n\n===== In an emergency =====\n\n"
            "First aid, then radio channel 1, then the [[contacts:emergency|emergency numbers]]."
        )
        made.append(
            Draft(f"safety:{page}", (login_of(author), "fiona.garth"), max(reviewed, "2025-01-20"), text)
        )
        overview.append((f"[[safety:{page}|{title}]]", author, reviewed, following))
    text = "====== Risk assessments ======\n\nEvery activity has a risk assessment, reviewed once a year.\n\n"
    text += table(("Activity", "Written by", "Reviewed", "Next review"), overview)
    made.append(Draft("safety:start", ("fiona.garth", "callum.frear", "fiona.garth"), "2025-01-20", text))
    return made


def _projects(chance: Random) -> list[Draft]:
    made: list[Draft] = []
    for page, title, leader, aim in PROJECTS:
        steps = sorted(chance.sample(range(len(STEPS)), chance.randint(4, 6)))
        rows = list[tuple[str, ...]]()
        for place, step in enumerate(steps):
            year, month = divmod(2025 * 12 + place * 3 + chance.randint(0, 2), 12)
            date = f"{year}-{month + 1:02d}-{chance.randint(1, 28):02d}"
            rows.append((STEPS[step], date, "done" if date < "2026-02" else "planned"))
        rows.sort(key=lambda row: row[1])
        text = (
            f"====== {title} ======\n\n{aim}\n\n**Lead:** {leader}\n\n===== Milestones =====\n\n"
            f"{table(('Milestone', 'Date', 'State'), rows)}\n\n===== Notes =====\n\n"
            f"Costs and dates stand in the [[projects:start|list of projects]]. Questions to {leader}."
        )
        made.append(Draft(f"projects:{page}", (login_of(leader), "yusuf.amin"), "2025-09-03", text))
    return made


def _minutes(chance: Random) -> list[Draft]:
    made: list[Draft] = []
    pool = list(ACTIONS)
    chance.shuffle(pool)
    tutors = ["dafydd.pryce", "martin.holt", "rafe.thornton", "mei.chua", "ines.moreira"]
    regular = [
        "anjali.rao",
        "callum.frear",
        "tom.askew",
        "lena.birkett",
        "hattie.moss",
        "fiona.garth",
        "kate.ormerod",
    ]
    decisions = list(DECISIONS)
    chance.shuffle(decisions)
    for number, date in enumerate(STAFF_MEETINGS):
        writer = ["isla.rigg", "hattie.moss", "clara.whin"][number % 3]
        chair = "ruth.penhallow" if number % 4 else "anjali.rao"
        people = [
            chair,
            *(p for p in regular if p != chair),
            *chance.sample(tutors, 3),
            "owen.strickland",
            "priya.nair",
        ]
        away = chance.sample(people[1:], chance.choice((1, 2, 2, 3)))
        present = [name_of(p) for p in people if p not in away]
        actions = [pool[(number * 4 + k) % len(pool)] for k in range(chance.choice((3, 4, 4)))]
        rows = list[tuple[object, ...]]()
        for count, (owner, what) in enumerate(actions, 1):
            due = STAFF_MEETINGS[min(number + 2, len(STAFF_MEETINGS) - 1)] if number < 19 else "2026-03-13"
            state = "done" if number < 14 or chance.random() < 0.4 else "open"
            rows.append((count, what, name_of(owner), due, state))
        numbers = [
            chance.randint(a, b) for a, b in ((71, 112), (640, 2380), (3, 19), (48, 163), (2, 5), (21, 96))
        ]
        reports = "\n".join(f"  * {one.format(*numbers)}" for one in chance.sample(REPORTS, 4))
        text = (
            f"====== Staff meeting, {day(date)} ======\n\n**Chair:** {name_of(chair)}\\\\\n"
            f"**Minutes:** {name_of(writer)}\\\\\n**Present:** {', '.join(present)}\\\\\n"
            f"**Apologies:** {', '.join(name_of(p) for p in away)}\n\n===== Reports =====\n\n{reports}\n\n"
            f"===== Decisions =====\n\n  - {decisions[number % len(decisions)]}\n\n===== Actions =====\n\n"
            f"{table(('No.', 'Action', 'Owner', 'Due', 'State'), rows)}"
        )
        made.append(Draft(f"minutes:staff:{date}", (writer, chair), date, text))
    for number, date in enumerate(SAFETY_MEETINGS):
        people = ["fiona.garth", "tom.askew", "callum.frear", "priya.nair", "lena.birkett"]
        away = [people[(number + 1) % 4 + 1]]
        rows = [
            (chance.choice(("slip", "cut", "bruise", "sting", "burn", "sprain")), place, chance.randint(1, 4))
            for place in chance.sample(
                ["Barn steps", "Kitchen", "Elterbeck", "Jetty", "East wing", "Laboratory"], 3
            )
        ]
        present = ", ".join(name_of(p) for p in people if p not in away)
        text = (
            f"====== Safety committee, {day(date)} ======\n\n**Chair:** Fiona Garth\\\\\n**Minutes:** Isla Rigg\\\\\n"
            f"**Present:** {present}\\\\\n**Apologies:** {name_of(away[0])}\n\n"
            f"===== Accidents since the last meeting =====\n\n{table(('Kind', 'Place', 'Number'), rows)}\n\n"
            "===== Other matters =====\n\n  * The list of [[safety:start|risk assessments]] was looked through.\n"
            f"  * Fire extinguishers: {chance.randint(0, 3)} to be replaced."
        )
        made.append(Draft(f"minutes:safety:{date}", ("isla.rigg", "fiona.garth"), date, text))
    lists = "\n".join(f"  * [[minutes:staff:{date}|{day(date)}]]" for date in reversed(STAFF_MEETINGS))
    others = "\n".join(f"  * [[minutes:safety:{date}|{day(date)}]]" for date in reversed(SAFETY_MEETINGS))
    text = (
        "====== Minutes ======\n\nMinutes are written up within three days. Actions are ticked off in the table.\n\n"
        f"===== Staff meetings =====\n\n{lists}\n\n===== Safety committee =====\n\n{others}"
    )
    made.append(Draft("minutes:start", ("isla.rigg",), "2025-02-05", text))
    return made
