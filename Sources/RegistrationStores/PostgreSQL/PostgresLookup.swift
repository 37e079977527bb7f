import APNSProtocol
import Crypto
import EventLoop
import PostgreSQL
import Registrations

/// One lookup of a reader, from its call until its outcome.
final class PostgresLookup: PostgresStatementWork<[[FoundDevice]]> {
    struct Keys {
        var user: UUIDValue
        var scope: UUIDValue?
    }

    private let lookup: DeviceLookup
    private let keys: [Keys]
    private let reader: PostgresReader

    init(_ lookup: DeviceLookup, keys: [Keys], reader: PostgresReader) {
        (self.lookup, self.keys, self.reader) = (lookup, keys, reader)
        super.init(PostgresReaderStatement.lookUp.rawValue, on: reader.connection)
    }

    override var parameters: PostgresParameters {
        var parameters = PostgresParameters()
        parameters.reserve(bytes: 300 + keys.count * 72)
        parameters.append(array: keys.map(\.user))
        parameters.append(array: lookup.queries.map { Int16(clamping: $0.environment.number) })
        parameters.append(array: lookup.queries.map { Int16(clamping: $0.kind.number) })
        parameters.append(array: keys.map(\.scope))
        parameters.append(array: lookup.queries.map(\.tokenKey))
        parameters.append(Int16(RegistrationRules.suspicionsMax))
        parameters.append(reader.connection.loop.now.unixMilliseconds)
        parameters.append(Int64(DeviceLookup.devicesMax))
        return parameters
    }

    override func read(_ rows: borrowing PostgresRows) throws(PostgresError) -> [[FoundDevice]] {
        var devices = [[FoundDevice]](repeating: [], count: lookup.queries.count)
        for row in 0..<rows.count {
            let query = Int(try rows.value(Int64.self, row: row, column: 0)) - 1
            guard devices.indices.contains(query) else {
                throw PostgresError(.unexpectedResult, "a lookup returned a device that belongs to no query")
            }
            let key = try Registration.Key(rows, row: row, column: 1)
            let registeredAt = try rows.value(Int64.self, row: row, column: 3)
            guard let keyID = try rows.optional(Int16.self, row: row, column: 4),
                let ciphertext = try rows.bytea(row: row, column: 5)
            else { continue }
            do throws(MissingDataKey) {
                let device = try reader.coder.device(
                    key: key, userKey: keys[query].user, registeredAt: registeredAt, keyID: Int(keyID),
                    ciphertext: ciphertext)
                if let device { devices[query].append(device) }
            } catch {
                lookup.fail(query: query, StoreFault(error))
            }
        }
        for query in lookup.faults.keys { devices[query] = [] }
        return devices
    }

    override func completed(with devices: [[FoundDevice]]) { lookup.completed(devices) }

    override func failed(_ fault: StoreFault) { lookup.failed(fault) }
}
