import APNSProtocol
import Registrations

/// One lookup of a user that is expected to have no registration.
final class DoctorLookup: DeviceLookup {
    private let reader: RegistrationReader
    private var continuation: UnsafeContinuation<StoreFault?, Never>?

    init(_ reader: RegistrationReader, app: String) {
        self.reader = reader
        super.init([
            DeviceQuery(app: app, environment: .production, kind: .device, scope: nil, user: "martlet doctor")
        ])
    }

    /// Starts the reader, and performs the lookup once the reader is ready. Returns the first fault; nil if the store
    /// answers.
    func fault() async -> StoreFault? {
        await withUnsafeContinuation { continuation in
            self.continuation = continuation
            reader.start { [self] fault in
                if let fault { end(fault) } else if self.continuation != nil { reader.lookUp(self) }
            }
        }
    }

    override func completed(_ devices: [[FoundDevice]]) { end(nil) }

    override func failed(_ fault: StoreFault) { end(fault) }

    private func end(_ fault: StoreFault?) {
        continuation.take()?.resume(returning: fault)
    }
}
