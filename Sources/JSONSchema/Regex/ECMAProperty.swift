/// The translation of the Unicode property names of ECMA-262 to PCRE2.
enum ECMAProperty {
    static func asPCRE2(_ text: String) -> (text: String, isInverted: Bool)? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.first, !name.isEmpty else { return nil }
        guard parts.count == 2 else {
            switch name {
            case "Any": return ("Any", false)
            case "Assigned": return ("Cn", true)
            default:
                if let category = category(name) { return (category, false) }
                return binary.contains(name) ? (name, false) : nil
            }
        }
        let value = parts[1]
        switch name {
        case "General_Category", "gc": return category(value).map { ($0, false) }
        case "Script", "sc": return scripts.contains(value) ? ("sc:\(value)", false) : nil
        case "Script_Extensions", "scx": return scripts.contains(value) ? ("scx:\(value)", false) : nil
        default: return nil
        }
    }

    private static func category(_ name: String) -> String? {
        if let short = categories[name] { return short }
        // Short names are the same in PCRE2, except LC.
        return categories.values.contains(name) ? (name == "LC" ? "L&" : name) : nil
    }

    private static let categories: [String: String] = [
        "Cased_Letter": "L&", "Close_Punctuation": "Pe", "Connector_Punctuation": "Pc", "Control": "Cc",
        "cntrl": "Cc", "Currency_Symbol": "Sc", "Dash_Punctuation": "Pd", "Decimal_Number": "Nd", "digit": "Nd",
        "Enclosing_Mark": "Me", "Final_Punctuation": "Pf", "Format": "Cf", "Initial_Punctuation": "Pi",
        "Letter": "L", "Letter_Number": "Nl", "Line_Separator": "Zl", "Lowercase_Letter": "Ll", "Mark": "M",
        "Combining_Mark": "M", "Math_Symbol": "Sm", "Modifier_Letter": "Lm", "Modifier_Symbol": "Sk",
        "Nonspacing_Mark": "Mn", "Number": "N", "Open_Punctuation": "Ps", "Other": "C", "Other_Letter": "Lo",
        "Other_Number": "No", "Other_Punctuation": "Po", "Other_Symbol": "So", "Paragraph_Separator": "Zp",
        "Private_Use": "Co", "Punctuation": "P", "punct": "P", "Separator": "Z", "Space_Separator": "Zs",
        "Spacing_Mark": "Mc", "Surrogate": "Cs", "Symbol": "S", "Titlecase_Letter": "Lt", "Unassigned": "Cn",
        "Uppercase_Letter": "Lu", "LC": "L&",
    ]

    private static let binary: Set<String> = [
        "ASCII", "ASCII_Hex_Digit", "AHex", "Alphabetic", "Alpha", "Bidi_Control", "Bidi_C", "Bidi_Mirrored",
        "Bidi_M", "Case_Ignorable", "CI", "Cased", "Changes_When_Casefolded", "CWCF", "Changes_When_Casemapped",
        "CWCM", "Changes_When_Lowercased", "CWL", "Changes_When_NFKC_Casefolded", "CWKCF",
        "Changes_When_Titlecased", "CWT", "Changes_When_Uppercased", "CWU", "Dash",
        "Default_Ignorable_Code_Point", "DI", "Deprecated", "Dep", "Diacritic", "Dia", "Emoji", "Emoji_Component",
        "EComp", "Emoji_Modifier", "EMod", "Emoji_Modifier_Base", "EBase", "Emoji_Presentation", "EPres",
        "Extended_Pictographic", "ExtPict", "Extender", "Ext", "Grapheme_Base", "Gr_Base", "Grapheme_Extend",
        "Gr_Ext", "Hex_Digit", "Hex", "IDS_Binary_Operator", "IDSB", "IDS_Trinary_Operator", "IDST",
        "ID_Continue", "IDC", "ID_Start", "IDS", "Ideographic", "Ideo", "Join_Control", "Join_C",
        "Logical_Order_Exception", "LOE", "Lowercase", "Lower", "Math", "Noncharacter_Code_Point", "NChar",
        "Pattern_Syntax", "Pat_Syn", "Pattern_White_Space", "Pat_WS", "Quotation_Mark", "QMark", "Radical",
        "Regional_Indicator", "RI", "Sentence_Terminal", "STerm", "Soft_Dotted", "SD", "Terminal_Punctuation",
        "Term", "Unified_Ideograph", "UIdeo", "Uppercase", "Upper", "Variation_Selector", "VS", "White_Space",
        "space", "XID_Continue", "XIDC", "XID_Start", "XIDS",
    ]
}
