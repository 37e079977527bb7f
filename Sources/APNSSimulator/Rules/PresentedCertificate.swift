import APNSProtocol

/// The certificate that a connection's client presented.
final class PresentedCertificate {
    let certificate: PushCertificate
    /// The topic of pushes without `apns-topic`; nil if the certificate has no topic or several.
    let defaultTopic: UnsafeRawBufferPointer?
    private let storage: UnsafeMutableRawBufferPointer

    init(_ certificate: PushCertificate) {
        self.certificate = certificate
        let topic = certificate.topics.first ?? ""
        storage = UnsafeMutableRawBufferPointer.allocate(byteCount: topic.utf8.count, alignment: 1)
        storage.copyBytes(from: topic.utf8)
        defaultTopic = certificate.topics.count == 1 ? UnsafeRawBufferPointer(storage) : nil
    }

    deinit { storage.deallocate() }
}
