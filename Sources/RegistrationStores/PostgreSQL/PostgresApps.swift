import Registrations

/// The apps of a store and their numbers, as far as a connection has read them.
struct PostgresApps {
    private var numbers: [ByteText: Int] = [:]
    private var names: [Int: String] = [:]
    /// The number up to which the connection has read all apps. Sessions that number apps at the same time may commit a
    /// larger number first.
    private(set) var lastContiguousNumber = 0

    /// The bundle IDs, sorted.
    var all: [String] { numbers.keys.sorted().map(\.text) }

    var count: Int { numbers.count }

    func number(of app: String) -> Int? { numbers[app.exact] }

    func name(of number: Int) -> String? { names[number] }

    mutating func insert(_ name: String, number: Int) {
        numbers[name.exact] = number
        names[number] = name
        while names[lastContiguousNumber + 1] != nil { lastContiguousNumber += 1 }
    }
}
