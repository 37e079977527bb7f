import SQLite

/// The table of texts that many rows of a file share, such as apps and codes. Rows contain their numbers.
final class WordTable {
    private let insertion: SQLiteStatement
    private let selection: SQLiteStatement
    private var numbers: [String: Int64] = [:]
    private var texts: [Int64: String] = [:]

    init(_ file: SQLiteFile) throws(SQLiteError) {
        insertion = try file.prepare("INSERT INTO word (n, text) VALUES (?, ?)")
        selection = try file.prepare("SELECT n, text FROM word WHERE n > ? ORDER BY n")
        try load()
    }

    /// Reads all words again, after the file has rolled back.
    func reload() throws(SQLiteError) {
        (numbers, texts) = ([:], [:])
        try load()
    }

    /// Reads the words that were added to the file.
    func load() throws(SQLiteError) {
        selection.bind(1, int64: Int64(texts.count))
        try selection.forEachRow { row throws(SQLiteError) in add(try row.text(1), try row.int64(0)) }
    }

    private func add(_ text: String, _ number: Int64) {
        numbers[text] = number
        texts[number] = text
    }

    /// Returns the number of a text, and adds the text if it is new. For a new text, a full table returns the number of
    /// `HistoryLimits.otherWord`.
    func number(of text: String) throws(SQLiteError) -> Int64 {
        if let number = numbers[text] { return number }
        if texts.count >= HistoryLimits.wordsMax { return try number(ofLast: HistoryLimits.otherWord) }
        return try insert(text)
    }

    private func number(ofLast text: String) throws(SQLiteError) -> Int64 {
        if let number = numbers[text] { return number }
        return try insert(text)
    }

    private func insert(_ text: String) throws(SQLiteError) -> Int64 {
        let number = Int64(texts.count) + 1
        insertion.bind(1, int64: number)
        insertion.bind(2, text: text)
        try insertion.run()
        add(text, number)
        return number
    }

    func numberOrNil(of text: String?) throws(SQLiteError) -> Int64? {
        guard let text else { return nil }
        return try number(of: text)
    }

    /// Returns the number of a known text; nil for other texts.
    func known(_ text: String) -> Int64? { numbers[text] }

    func text(_ number: Int64?) -> String? { number.flatMap { texts[$0] } }
}
