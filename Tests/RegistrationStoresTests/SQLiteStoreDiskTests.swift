import APNSProtocol
import EventLoop
import Glibc
import RegistrationStores
import Registrations
import TestKit
import Testing

@Suite(.enabled("needs the right to mount", SmallDisk.isPermitted)) struct SQLiteStoreDiskTests {
    @Test func `A full disk stops changes, lookups continue, and changes resume without a restart`() async throws {
        let disk = try await SmallDisk(kilobytes: 800)
        let path = disk.file("registrations.db")
        let rules = RegistrationRules(now: RegistrationModel.start + 1000)
        try await onEpollLoop { loop in
            let client = StoreClient(SQLiteStore(path: path, keys: try .sample()), on: loop)
            try await client.start()
            var stored: Set<String> = []
            func register(_ numbers: Range<Int>) async throws(StoreFault) {
                let users = numbers.map { "user-\($0)" }
                let commands = users.enumerated().map { index, user in
                    RegistrationCommand.register(user, String(0x1000 + numbers.lowerBound + index, radix: 16), at: 1)
                }
                _ = try await client.apply(commands, rules: rules)
                stored.formUnion(users)
            }
            var number = 0
            var fault: StoreFault?
            while fault == nil {
                try #require(number < 100_000)
                do throws(StoreFault) {
                    try await register(number..<number + 100)
                    number += 100
                } catch {
                    fault = error
                }
            }
            #expect(fault?.code == .refused && fault?.errorClass == "full")
            #expect(fault?.sentence.contains("free or add space") == true)
            #expect(stored.count >= 100)
            let query = DeviceQuery(
                app: RegistrationModel.app, environment: .production, kind: .device, scope: nil, user: "user-0")
            let found = try await client.lookUp([query])
            #expect(found.map(\.count) == [1])
            try await disk.resize(kilobytes: 8000)
            try await register(number..<number + 100)
            let users = Set(try await client.rows().compactMap { $0.details?.identity?.user })
            #expect(users == stored)
            await client.close()
        }
    }
}
