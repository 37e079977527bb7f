import APNSProtocol
import Crypto
import EventLoop
import PostgreSQL
import Registrations

/// One lookup of a reader, from its call until its outcome.
final class PostgresLookup: StatementReceiver {
    struct Keys {
        var user: UUIDValue
        var scope: UUIDValue?
    }

    private let lookup: DeviceLookup
    private let keys: [Keys]
    private let reader: PostgresReader
    private var repeats = PostgresRepeats()

    init(_ lookup: DeviceLookup, keys: [Keys], reader: PostgresReader) {
        (self.lookup, self.keys, self.reader) = (lookup, keys, reader)
        super.init()
        reader.connection.workBegan()
    }

    func begin() {
        if let fault = reader.connection.fault { return fail(fault) }
        send()
    }

    private func send() {
        do throws(PostgresError) {
            try reader.connection.connection.execute(
                PostgresReaderStatement.lookUp.rawValue, parameters, receiver: self)
        } catch {
            fail(StoreFault(error))
        }
    }

    private var parameters: PostgresParameters {
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

    override func completed(_ rows: borrowing PostgresRows) {
        do throws(PostgresError) {
            let devices = try devices(in: rows)
            reader.connection.workEnded()
            lookup.completed(devices)
        } catch {
            fail(StoreFault(error))
        }
    }

    private func devices(in rows: borrowing PostgresRows) throws(PostgresError) -> [[FoundDevice]] {
        var devices = [[FoundDevice]](repeating: [], count: lookup.queries.count)
        for row in 0..<rows.count {
            let query = Int(try rows.value(Int64.self, row: row, column: 0)) - 1
            guard devices.indices.contains(query) else {
                throw PostgresError(.unexpectedResult, "a lookup returned a device that belongs to no query")
            }
            let key = try Registration.Key(rows, row: row, column: 1)
            let registeredAt = try rows.value(Int64.self, row: row, column: 3)
            guard let sealed = try RowCipher.Sealed(rows, row: row, column: 4) else { continue }
            do throws(MissingDataKey) {
                let device = try reader.coder.device(
                    key: key, userKey: keys[query].user, registeredAt: registeredAt, sealed: sealed)
                if let device { devices[query].append(device) }
            } catch {
                lookup.fail(query: query, StoreFault(error))
            }
        }
        for query in lookup.faults.keys { devices[query] = [] }
        return devices
    }

    override func failed(_ error: PostgresError) {
        if repeats.repeats(after: error) { return send() }
        fail(StoreFault(error))
    }

    /// Reports the fault after the call that caused it has returned.
    func fail(_ fault: StoreFault) {
        reader.connection.loop.later { [self] in
            reader.connection.workEnded()
            lookup.failed(fault)
        }
    }
}
