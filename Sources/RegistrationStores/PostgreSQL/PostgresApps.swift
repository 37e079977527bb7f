import Registrations

/// The apps of a store and their numbers, as far as a connection has read them. An app has a larger number than all
/// apps that were committed before it.
struct PostgresApps {
    private var numbers: [ByteText: Int] = [:]
    private var names: [Int: String] = [:]
    private(set) var lastNumber = 0

    /// The bundle IDs, sorted.
    var all: [String] { numbers.keys.sorted().map(\.text) }

    var count: Int { numbers.count }

    func number(of app: String) -> Int? { numbers[app.exact] }

    func name(of number: Int) -> String? { names[number] }

    mutating func insert(_ name: String, number: Int) {
        numbers[name.exact] = number
        names[number] = name
        lastNumber = max(lastNumber, number)
    }
}
