package mapping

import "testing"

// TestWrongMappings checks that each wrong mapping gives one message, which names the position in the document and the
// rule.
func TestWrongMappings(t *testing.T) {
	for _, x := range wrongMappings {
		m, err := Parse([]byte(x.document))
		if err == nil {
			_, err = m.Compile(config(lossBody))
		}
		if err == nil || err.Error() != x.want {
			t.Errorf("%s\n said %v\n want %s", x.document, err, x.want)
		}
	}
}

var wrongMappings = []struct{ document, want string }{
	{
		"{\"label\":\"\xff\"}",
		`not UTF-8`,
	},
	{
		`{"label":"l",}`,
		`not JSON, from byte 14 on`,
	},
	{
		`["l"]`,
		`the document is a list; it must be an object`,
	},
	{
		`{"label":"l","label":"m","features":["a"]}`,
		`"label": given twice`,
	},
	{
		`{"lable":"l","features":["a"]}`,
		`lable: no such member: a mapping has where, label, features, members, partition_by, key and sort`,
	},
	{
		`{"label":7,"features":["a"]}`,
		`label: is a number; it must be a text or an object`,
	},
	{
		`{"label":"l","features":"a"}`,
		`features: is a text; it must be a list`,
	},
	{
		`{"label":"l","features":[["a"]]}`,
		`features[0]: is a list; it must be a text or an object`,
	},
	{
		`{"label":"l","features":["a"],"where":{}}`,
		`where: is an object; it must be a text`,
	},
	{
		`{"label":"l","features":["/a~2"]}`,
		`features[0]: path "/a~2": behind ~ stands 0 or 1`,
	},
	{
		`{"label":"l","features":["a/b"]}`,
		`features[0]: path "a/b": a path of several names starts with /`,
	},
	{
		`{"label":"l","features":["/"]}`,
		`features[0]: path "/": no name`,
	},
	{
		`{"label":"l>","features":["a","b"]}`,
		`label: nothing is above or below a missing constant`,
	},
	{
		`{"label":"l==1","features":["a"]}`,
		`label: not a comparison: it must be a path, one of = != > >= < <=, and a constant`,
	},
	{
		`{"label":"l","features":["a"],"where":["/s=1","paid"]}`,
		`where[1]: not a comparison: it must be a path, one of = != > >= < <=, and a constant`,
	},
	{
		`{"label":"l","features":["/a/x","/b/x"]}`,
		`features[1]: "x" is also the name of features[0]; one of them must have another name`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","form":"text"}]}`,
		`features[0].form: no such member: the members are name, from, compare, constant, as, epoch, zone, scale and offset`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":[1]}],"where":"/a=1"}`,
		`features[0].from: is a number; it must be a text`,
	},
	{
		`{"label":"l","features":[{"name":"a"}]}`,
		`features[0]: the item must have exactly one of from, compare and constant`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","constant":1}]}`,
		`features[0]: the item must have exactly one of from, compare and constant`,
	},
	{
		`{"label":"l","features":[{"constant":1}]}`,
		`features[0]: it has no name`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","as":"minute"}]}`,
		`features[0].as: "minute": not one of number, text, bool, hour, weekday, day, month, seconds`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","zone":"UTC"}]}`,
		`features[0]: epoch and zone are for times: as is one of hour, weekday, day, month, seconds`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","as":"hour","epoch":"min"}]}`,
		`features[0].epoch: "min": not one of s, ms, us, ns, d`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","as":"hour","zone":"Europe/Berlin"}]}`,
		`features[0].zone: "Europe/Berlin": not UTC, an offset such as +01:00, or a rule such as "CET-1CEST,M3.5.0,M10.5.0/3", which is the last line of the zone's file in /usr/share/zoneinfo. Names of zones are not taken: their rules change with the software`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","scale":0}]}`,
		`features[0].scale: 0: a scale of 0 leaves nothing of a number`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","scale":1e999}]}`,
		`features[0].scale: too large: a number is below 1.8e308`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":"a","as":"text","offset":1}]}`,
		`features[0]: scale and offset are for numbers, and as is text`,
	},
	{
		`{"label":"l","features":[{"name":"a","from":["a","b"]}]}`,
		`features[0].from: several paths make a vector, which only a member is`,
	},
	{
		`{"label":"l","features":[{"name":"a","constant":[1]}]}`,
		`features[0].constant: is a list; it must be a number, a text or a boolean`,
	},
	{
		`{"features":["a"]}`,
		`label: missing: events of coco must have one, the member label`,
	},
	{
		`{"label":"l"}`,
		`features: nothing gives the member features, which events of coco must have`,
	},
	{
		`{"label":"l","features":["a"],"members":["weight"]}`,
		`members[0]: not a member, =, and a path`,
	},
	{
		`{"label":"l","features":["a"],"members":["w=w"]}`,
		`members[0]: events of coco have no member "w", but features, label, weight`,
	},
	{
		`{"label":"l","features":["a"],"members":["label=m"]}`,
		`members[0]: the member label is given twice`,
	},
	{
		`{"label":"l","features":["a"],"members":["weight=w","weight=v"]}`,
		`members[1]: "weight" is also the name of members[0]; one of them must have another name`,
	},
	{
		`{"label":"l","features":["a"],"members":["weight=w:text"]}`,
		`members[0]: weight is a number, not a text`,
	},
	{
		`{"label":"l","features":["a"],"members":["weight=v,w"]}`,
		`members[0]: weight is one value, not 2`,
	},
	{
		`{"label":"l","members":["features=/v:text"]}`,
		`members[0]: features is a vector: from is the path of a list of numbers, or a path for each coordinate`,
	},
	{
		`{"label":"l","members":["features=a,b,c"]}`,
		`members[0]: 3 paths for 32 coordinates (ORIEL_DIMENSION)`,
	},
	{
		`{"label":"l","features":["a"],"sort":["t"]}`,
		`partition_by, key, sort: are for rows of a table; a record has a partition and a key already`,
	},
}
