import EventLoop
import Registrations
import TestKit

/// Lookups of users in random order. Each lookup has `DeviceLookup.queriesMax` queries, as those of a busy lane.
final class LookupLoad: StoreLoad {
    private let reader: RegistrationReader
    private let devices: Int
    private var lookups: [[DeviceQuery]] = []
    private var next = 0

    init(_ reader: RegistrationReader, _ group: UserGroup, on loop: EventLoop) {
        self.reader = reader
        devices = group.devices
        super.init(on: loop)
        let queries = RandomOrder(group.count).prefix(StoreClient.registrationsMax).map { number in
            let registration = group.registration(number * group.devices, at: 0)
            let address = registration.address
            return DeviceQuery(
                app: address.app, environment: address.environment, kind: address.kind, scope: nil,
                user: registration.user)
        }
        lookups = stride(from: 0, to: queries.count - DeviceLookup.queriesMax + 1, by: DeviceLookup.queriesMax).map {
            Array(queries[$0..<$0 + DeviceLookup.queriesMax])
        }
    }

    override func begin() {
        reader.lookUp(Lookup(lookups[next], self))
        next = (next + 1) % lookups.count
    }

    private final class Lookup: DeviceLookup {
        private let load: LookupLoad

        init(_ queries: [DeviceQuery], _ load: LookupLoad) {
            self.load = load
            super.init(queries)
        }

        override func completed(_ devices: [[FoundDevice]]) {
            guard devices.allSatisfy({ $0.count == load.devices }) else {
                return load.failed(StoreFault(.data, "a lookup found too few devices"))
            }
            load.completed(queries.count)
        }

        override func failed(_ fault: StoreFault) { load.failed(fault) }
    }
}
