"""What nvme-cli prints, in the shapes of its versions; the values are made up."""

from __future__ import annotations

ID_CTRL_JSON = """{
  "vid" : 5559, "sn" : "S123        ", "mn" : "ACME SSD 9                ", "fr" : "1.0     ",
  "cmic" : 2, "oacs" : 23, "npss" : 1, "apsta" : 1, "wctemp" : 357, "cctemp" : 361, "nn" : 1, "oncs" : 95,
  "fna" : 4, "vwc" : 7, "tnvmcap" : 256060514304,
  "psds" : [
    {"max_power" : 500, "flags" : 0, "entry_lat" : 0, "exit_lat" : 0},
    {"max_power" : 700, "flags" : 3, "entry_lat" : 4000, "exit_lat" : 10000}
  ]
}
"""
ID_CTRL_WORDS_JSON = """{
  "sn": "S123", "mn": "ACME SSD 9", "fr": "1.0", "vwc": 6, "oacs": 23, "fna": 5, "nn": 32, "oncs": 64,
  "psds": [
    {"max_power": 849, "max_power_scale": 0, "non-operational_state": 0, "entry_lat": 0, "exit_lat": 0},
    {"max_power": 50, "max_power_scale": 1, "non-operational_state": 1, "entry_lat": 500, "exit_lat": 9500}
  ]
}
"""
ID_CTRL_TEXT = """NVME Identify Controller:
vid       : 0x1b36
sn        : S123
mn        : ACME SSD 9
fr        : 1.0
cmic      : 0
  [1:1] : 0\tSingle Controller
oacs      : 0x10a
wctemp    : 343
 [15:0] : 70°C (343 Kelvin)\tWarning Composite Temperature Threshold (WCTEMP)
cctemp    : 373
nn        : 256
oncs      : 0x15d
fna       : 0
  [0:0] : 0\tFormat Applies to Single Namespace(s)
vwc       : 0x7
  [0:0] : 0x1\tVolatile Write Cache Present
ps      0 : mp:25.00W operational enlat:16 exlat:4 rrt:0 rrl:0
            rwt:0 rwl:0 idle_power:- active_power:-
ps      1 : mp:0.0700W non-operational enlat:4000 exlat:10000 rrt:1 rrl:1
"""
ID_NS_JSON = """{
  "nsze":524288, "ncap":524288, "nuse":1024, "nlbaf":2, "flbas":17, "dps":9, "nmic":1,
  "lbafs":[{"ms":0,"ds":9,"rp":1}, {"ms":8,"ds":12,"rp":0}, {"ms":0,"ds":0,"rp":0}]
}
"""
ID_NS_WORDS_JSON = """{
  "nsze":524288, "nlbaf":1, "flbas":0, "dps":0, "nmic":0,
  "lbafs":[
    {"LBA Format":0,"Metadata Size":"0 bytes","Data Size":"512 bytes","Relative Performance":"0x2 Good","in use":"yes"},
    {"LBA Format":1,"Metadata Size":"0 bytes","Data Size":"4096 bytes","Relative Performance":"0x0 Best","in use":"no"}
  ]
}
"""
ID_NS_TEXT = """NVME Identify Namespace 1:
nsze    : 0x80000
nuse    : 0x400
nlbaf   : 1
flbas   : 0x1
dps     : 0
nmic    : 0
lbaf  0 : ms:0   lbads:9  rp:0x2
lbaf  1 : ms:0   lbads:12 rp:0 (in use)
"""
ID_NS_HUMAN = """NVME Identify Namespace 1:
nsze    : 0x80000
nlbaf   : 1
flbas   : 0
  [6:5] : 0\tMost significant 2 bits of Current LBA Format Selected
dps     : 0
nmic    : 0
LBA Format  0 : Metadata Size: 0   bytes - Data Size: 512 bytes - Relative Performance: 0x1 Better (in use)
LBA Format  1 : Metadata Size: 64  bytes - Data Size: 4096 bytes - Relative Performance: 0 Best
"""
SMART_JSON = """{
  "critical_warning": 0, "temperature": 324, "avail_spare": 100, "spare_thresh": 5, "percent_used": 30,
  "data_units_written": 1928683480, "power_on_hours": 24424, "media_errors": 2, "warning_temp_time": 7,
  "thm_temp1_trans_count": 3, "thm_temp2_trans_count": 0
}
"""
SMART_FLOAT_JSON = '{"critical_warning":0, "temperature":310.0, "avail_spare":100.0, "percent_used":2.0}'
SMART_STRING_JSON = (
    '{"critical_warning":{"value":4,"ro":1}, "temperature":"323", "percent_used":"255", "media_errors":"0"}'
)
SMART_TEXT = """Smart Log for NVME device:nvme0 namespace-id:ffffffff
critical_warning\t\t\t: 0
temperature\t\t\t\t: 51°C (324 Kelvin)
available_spare\t\t\t\t: 100%
available_spare_threshold\t\t: 5%
percentage_used\t\t\t\t: 30%
Data Units Written\t\t\t: 1,928,683,480 (987.49 TB)
power_on_hours\t\t\t\t: 24,424
media_errors\t\t\t\t: 2
Warning Temperature Time\t\t: 7
Thermal Management T1 Trans Count\t: 3
Thermal Management T2 Trans Count\t: 0
"""
SMART_OLD_TEXT = """Smart Log for NVME device:nvme0 namespace-id:ffffffff
critical_warning                    : 0
temperature                         : 39 C
available_spare                     : 100%
percentage_used                     : 1%
"""
LIST_NS_TEXT = "[   0]:0x1\n[   1]:0x20\n"
LIST_NS_JSON = '{"nsid_list":[{"nsid":1},{"nsid":32}]}'

FEATURE_TEXTS = (
    "get-feature:0x6 (Volatile Write Cache), Current value:00000001\n",
    "get-feature:0x6 (Volatile Write Cache), Current value:0x000001 \n",
    "get-feature:0x06 (Volatile Write Cache), Current value:0x00000001\n\tVolatile Write Cache Enable (WCE): Enabled\n",
    '{"Feature: 0x06": {"Name": "Volatile Write Cache", "Current value": "0x00000001"}}',
    '{"feature":"0x06","Value":1}',
)
"""The same answer of five versions."""
CAPABILITY_TEXTS = (
    "get-feature:0x06 (Volatile Write Cache), Supported capabilities value:0x00000004\n  Feature is changeable\n",
    '{"Feature: 0x06: select":["changeable"]}',
    '{"Feature":["changeable"]}',
)
"""The same answer to `--sel=3` of three versions."""

ALL = (
    ID_CTRL_JSON,
    ID_CTRL_WORDS_JSON,
    ID_CTRL_TEXT,
    ID_NS_JSON,
    ID_NS_WORDS_JSON,
    ID_NS_TEXT,
    ID_NS_HUMAN,
    SMART_JSON,
    SMART_FLOAT_JSON,
    SMART_STRING_JSON,
    SMART_TEXT,
    SMART_OLD_TEXT,
    LIST_NS_TEXT,
    LIST_NS_JSON,
    *FEATURE_TEXTS,
    *CAPABILITY_TEXTS,
)
"""Everything, for what nobody thought of."""
