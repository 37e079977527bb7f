import Crypto

/// Certificates created by `openssl req`, and files created from them by `openssl pkcs12` and `openssl pkcs8`. The
/// passphrase is `secret`.
enum SampleCertificates {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIB9zCCAZ2gAwIBAgIUPTm/DVnCaTv+L4LcSTjLpSjidm0wCgYIKoZIzj0EAwIw
        UDEfMB0GCgmSJomT8ixkAQEMD2NvbS5leGFtcGxlLmFwcDEtMCsGA1UEAwwkQXBw
        bGUgUHVzaCBTZXJ2aWNlczogY29tLmV4YW1wbGUuYXBwMCAXDTI2MTEyMzExNDEw
        OFoYDzIxMjYxMDMwMTE0MTA4WjBQMR8wHQYKCZImiZPyLGQBAQwPY29tLmV4YW1w
        bGUuYXBwMS0wKwYDVQQDDCRBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBs
        ZS5hcHAwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQ5XjjIl0t78dxENzYkIcYI
        ReFevZk2pUdjdEfWoPe5NohxBNQ/7vrdQ94YmCRVOY7HjBkbkiTBso5y6SX0o+qz
        o1MwUTAdBgNVHQ4EFgQUtF0X7jel16XOIeJXJ8y4dYQkw9QwHwYDVR0jBBgwFoAU
        tF0X7jel16XOIeJXJ8y4dYQkw9QwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQD
        AgNIADBFAiAFr+ua+KofBjVlMWhDVAVYQ5JAAUOfIksGRskSlKt+bwIhAMy3GKW1
        ZaMAgvoCUDdl89vmfqj8k1Py047mwS9MmKsm
        -----END CERTIFICATE-----

        """

    static let another = """
        -----BEGIN CERTIFICATE-----
        MIIBezCCASGgAwIBAgIUBOLoh9w5ErpsIMlTDQJn/AMnuUgwCgYIKoZIzj0EAwIw
        EjEQMA4GA1UEAwwHQW5vdGhlcjAgFw0yNjExMjMxMTQxMDhaGA8yMTI2MTAzMDEx
        NDEwOFowEjEQMA4GA1UEAwwHQW5vdGhlcjBZMBMGByqGSM49AgEGCCqGSM49AwEH
        A0IABLMaPYvK38k3UpIDCygGBGDamd2pofxQTvGi07jpKI6v7fDTluY9ky2Z2Bcc
        i5VxUNjunH8ROJoH9Rg66KzhB7+jUzBRMB0GA1UdDgQWBBRBNK6/1n74DI/Qze82
        nlqf992NzzAfBgNVHSMEGDAWgBRBNK6/1n74DI/Qze82nlqf992NzzAPBgNVHRMB
        Af8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIAf8f9fctfKgYHrJto+hlRCiDhSi
        VW35HfUDcKQAtXUVAiEAnaUGrylvzjLNsawu+MRl7F+6XJ6t4kmSOq8JmhZPQFI=
        -----END CERTIFICATE-----

        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCsSOUvt3v65hSB9g
        3mzQ1oxo4Bj4giWKXXv5RzzMiVWhRANCAAQ5XjjIl0t78dxENzYkIcYIReFevZk2
        pUdjdEfWoPe5NohxBNQ/7vrdQ94YmCRVOY7HjBkbkiTBso5y6SX0o+qz
        -----END PRIVATE KEY-----

        """

    static let encryptedKey = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiSg0aDnjbUgwICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEENJri8SRKtKF0vRXkJIYPmQEgZCb
        YBAVAW0nr/wA4enpTpP2FRkItGYrBcrKfyQuNZlEbDA32SnDZjbJuaX1vkHdHrK2
        kHQP8SmOnP+mXzKdja0eqtwDatL8P1uVeiNsRBq5LqZxvWXqsQff6STqBuulWVOI
        MhU54rnE4HfjGYKVZU4UkXvmlhShDrYKcUMsMIYNF2YSM6VG3abwzK+V2Akq8VI=
        -----END ENCRYPTED PRIVATE KEY-----

        """

    /// A PKCS #12 file of `certificate` and its key. The file also contains `another`.
    static let pkcs12 = bytes(
        """
        MIIGLAIBAzCCBeIGCSqGSIb3DQEHAaCCBdMEggXPMIIFyzCCBIIGCSqGSIb3DQEHBqCCBHMwggRvAgEAMIIEaAYJKoZIhvcNAQcB
        MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgwVjq5JPAL7QICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECFx
        NC27uOn+kGaaxSNlKGqAggQA2PJWZGKR8e9io+P0TKmYdfUpgGCOxMG71VUMgCON3IaHUzHRfwC87bbrrTCIklIV8MOLeJn2ayww
        oDVOO/X25OTuwrxQ6Mdsvtaj9HaVpjcVCQXNir9kghGKDCS6Fg4jYYcOmAgVMOXbMqxrDZJjF4cyIjusywIQm0a6D5GU14aMeSnJ
        msRfvj5vneVK9i98aCfYmnpT2xTIiQFaV5CNTgdcBHqlDe6U0fYp956XoFjkvkTSf98m8BcyiOWVyVSeEZMgnj3HTcMct6O69qSL
        ojQpM3m0CK74TaOSOFLem7W52+C7hiRuYEi+LuaNxjv3S4DNPzXgc9lUzfq0tbmIaEtyvEn3HYedoso+w6e7T4oe0fAJDNZ6wT1Z
        4zBDEhuqHz243V+uT5xAbZ0Lfv9b1FWR2KsQXoPI+GCuuIE2DJ94m3BixroFEBGDJafjgV7ANFwQUHL+lPveY17oXZg5JwVtYiDC
        p6GIv+3zP64ZaBqRNxBrKsMBodEfPKqZTHYGyjfeLz0leIl/hJ5jQ8UN1krcTh1LyC10iCX8cvWkcF4tYlAztu6qXF2GuR5p5Pl5
        QW3LZUKkJ0RS8lm9AaRfM+ItR6ONYte68LTAKp3e88ne5mMgaw8cKjdL1vL/iGjw6a+RQxchlFM7yIv7L7NAzrGU4evaYD9/ZtRI
        /BmZCdv5Sx9ERzAMAqCDgiMG2u5Y0aRIlbqzY8lDbC5sZqqWgXdX1Z2LXkqRNHD8Molc0lP5pndLKSAxFpVH8yU6Rwgx74YfiZei
        d2bDmi0o5tntgpmGb3ki0N5aO84KgAJKL/PJQzKXSKnWgTORk0/o2vnrIxpdEnswGAsNQqP0l7B7UnFXQOZFr0eU8wK0fWv63/wB
        Jo2J83sTp1mvnyloP8sNUYdlSZ3nZCBUIrFnnFT6h7oSysU2oZjpxDP9L2L16TQIH3TGqdDcwJMmHM38kC1uRBeH4uJG6TesmDDc
        7OoyZHkjOLl570D6uIXaoCFOIYq4U5AjV5S3EeqPwYpOy7BiPm2wUnx7NIPIzHJSSGz3s4fvACsp6zSUfAEj3K2EWz6AH4y2drQF
        VWTQmxlY7HXENBwHaovTZmTsOdS5z+zCUsCSDBnFf/xOAvcIZXVscBcP9+bJkR0/AZhIxOY0gKK2YL+10n3eFZNB67YE8/OEXCDO
        u6jVkiV+XHNWavmDmE1uC+zYJzvIyvR66hcwHHxP2BOwA1jngnP3LQG3Dy7zY4K/Q7ffjC+7H2xA1fR8J20XkdYbKZ7s5e++emRc
        zb0G++KkugiJ/WFWv+elEkshNRJBD1GmZfww7LdFp5RbLoNZXpiM405nzxXxIIqNWPG6U6mbIegLZX8UuH9Q5rxiQzCCAUEGCSqG
        SIb3DQEHAaCCATIEggEuMIIBKjCCASYGCyqGSIb3DQEMCgECoIHvMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgB
        8+InY0G3ywICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEGL+5dhJEPnxYThvsS47Ov0EgZBXB0E700qyxWH2hufxfCXo
        7MOEssEXSje5Dtb88G9UX9EavUNy9gpV6KB2tHkGGUKtqCySKOcfdfxJBFXPd4xNFmMVbbj9zQVGw1MsYSQ31vPelbWmndugyNK7
        1ntG4fWk3c4Tx6BPZrl0oSEucBT7a9ZAj0GVQYJ+RWetxxFvMgaGsn4uTWmQO8VDWPtFw30xJTAjBgkqhkiG9w0BCRUxFgQUfJSX
        dfRTPpb0y4NbjsYHNuao34QwQTAxMA0GCWCGSAFlAwQCAQUABCB6TRUrJyvCh1uikeA3FKIbwt2p/GOyimgsh9BJBe4RFQQIhyxO
        HILAp1MCAggA
        """)

    /// A file as macOS's keychain exports it, with 40-bit RC2, created with `-legacy`.
    static let keychain = bytes(
        """
        MIID+gIBAzCCA8AGCSqGSIb3DQEHAaCCA7EEggOtMIIDqTCCAp8GCSqGSIb3DQEHBqCCApAwggKMAgEAMIIChQYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQYwDgQIPn5OBEY9/J4CAggAgIICWP8ngUODk5tqw/ze1YSVYIPW73T6atJIU2PEPvakVRhIN39BNSq9qAg6
        KrkuK5Im1XkQayHIj6SnscpLbQbF0Obyqgg06fbJSX8NvWvj4AGQrNqX4otw/dJKCwpiTUYShCnxawYKwkvPHRbqp7e6L3/tab/o
        CUTH/2c6Y1tzggiHGff7KGus1lRIy2kyHLoVu5GZxSCrDKbDA7ScGOG/pkvETXtSM5mOLO9tigF+0lx8w/FoGCXR09L4XpjzJ92c
        ckfphCe2d/Nf2dbLLah+CgzsImxrKb8cvbJOsXopKCXSKB66/vGvJOu1uhZ2nWMEIRwxx3a4psNRYIw94TX630uQYu4rPiS9o+tu
        7a7OLXvOIpzGFPQZkHsZCUSrIvQHI7YXhYxpwVzL3moRZO9zQKhQezdJlF2xB93kVrWTD/IR5dnWwNVKsSnT8HJvxqSI9EpV3xAI
        68tV9QMw2L7j1Esjhm1uuakyBFQVtSG4dXrNtOStCM4M6aUzb8H+ryz1P1H6B8dIJUp05BSdA8X+GUICnb0lk9xGdizrpNz66T8u
        VFG6qjZTOK7DHIpFSZDuWcgow7Q29PpFrnn9hcM/DpfJgMbCLTJbiEQW/3xUT2uWZfoBUB5sTw3bI2fpHzHQ7CxbxaN9uf2QeoBE
        uLnqlqLsFENf+yI9j8Bh5CqXZmX0QfCDrLYRR3LVaA+jhoFen8In0kAM4uLCoKpI9DJA25FR/ywNNqU19N7gTVtqzI9kojRvogV7
        aZIk5MOUgp6FYajh20J7qYBdjlEnahYrf4mLe/ZljX7LfzCCAQIGCSqGSIb3DQEHAaCB9ASB8TCB7jCB6wYLKoZIhvcNAQwKAQKg
        gbQwgbEwHAYKKoZIhvcNAQwBAzAOBAiktyQiTF2IBwICCAAEgZBmg1+DQAlvuknJv3DqDOeItWm/uzsjMTJLnTSzCac4XbZCVtv8
        gEESPjM4aWlqzMV4TqkeExl0HtFE2zertMeeJsV9yqNGIyiNP9NNrm3ngdMAsrEqGOpUWVGKVBCMJrPevEGALW4EBbhFXh9GMVq4
        KC+rtmFLgMmt654bNPoQDaXv38OXKHM5THyLMZoD/m8xJTAjBgkqhkiG9w0BCRUxFgQUfJSXdfRTPpb0y4NbjsYHNuao34QwMTAh
        MAkGBSsOAwIaBQAEFAhTQjryxETgW6VDtNgMk3gF1MrcBAi7FoPBABkSWAICCAA=
        """)

    /// A PKCS #12 file without the key, created with `-nokeys`.
    static let pkcs12WithoutKey = bytes(
        """
        MIIDFwIBAzCCAs0GCSqGSIb3DQEHAaCCAr4EggK6MIICtjCCArIGCSqGSIb3DQEHBqCCAqMwggKfAgEAMIICmAYJKoZIhvcNAQcB
        MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhl1NRQUiMHCAICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEIE7
        jw4QUycs4Fctlk9rPSmAggIwe/OCpZdndWkCP4U2lERRlY8BWAgscf6XzpSid6URTMXBM2FPhE1Bxf2qQ9KsUw1uhfNqE3jcqkYq
        COkApl8K5fWUT/dmK3CL+e8NenISJxO8+GDrEjcRcnv1BInFfDiCD/Y1kqyzhlwq8YWhew/kMU6O/HaFBKD/Q2a/djFIqmEImAYz
        jlobjW99jtKsXRW8P+F6FzpDk2O5ryhom4/U7adrEFs6ie5pIiDNHrzGRf2f+h/ZZjsxJ2/nBKQsQXrhSPoXQt5OvIYi3B0+gPOg
        vk1c8guBKOsdMK1kUfVGu01VUz351IFiPPgishu/Wf125tso/wxIR3rzcKqFBg+zYGWvPVtOm32zG+57QaVRu4Dwu47Vvw6sw5/j
        ooXJW280e4O2IM5MsTmQ9U+57xk300jkf7B0O1r7quUaPwg1OiDox4978zeJ1/ASdh77BjpQSYzXGAObfh4/qzEK08dukJHZo3Q2
        lZ/v1NLkcrqNXrwpptxeB0coCa10/cUU44eOImi0eUUlqN+r7zD+bxlxalSgxGXDoxoiJ847a6aO3RRlQ15wykwctKyeVKrLh1Gk
        SAo7MGN+sBbe6/i2HfwIDTr+5TP4ANlBIBTlRhjRts4LU4zsns5R1N2Pe7e7UEwMg+vo3SO+QqRiRse+DkHwrgX7+rJHhMzKTF2g
        cLyjdWUmw1FZtWYaC5KvpKxhMhawdd1cGAGFBf8lHQBn5hLCqFpJqlykWYPPa5RlAo1jyeswQTAxMA0GCWCGSAFlAwQCAQUABCCP
        NiIbTuRBHaYreGBoYX1EwsJNKz8DsqyKWFzMnN60eQQIRa7+rQDg1bgCAggA
        """)

    /// A developer's certificate, without a user ID. `developerKey` is the key of this certificate and of `otherApp`.
    static let developer = """
        -----BEGIN CERTIFICATE-----
        MIIBqTCCAU+gAwIBAgIUfObzWoZyvv/Y7m9nu7eUKOGpTSYwCgYIKoZIzj0EAwIw
        KTEnMCUGA1UEAwweQXBwbGUgRGV2ZWxvcG1lbnQ6IEEgRGV2ZWxvcGVyMCAXDTI2
        MTEyODA1MjExOVoYDzIxMjYxMTA0MDUyMTE5WjApMScwJQYDVQQDDB5BcHBsZSBE
        ZXZlbG9wbWVudDogQSBEZXZlbG9wZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
        AATeTqenSICsfCxruWIdeAbCqqJMBeJmkiEWcoTAiuL1jULbN7NRG0giFD9oFH5z
        9DO7biW5EcpSeoDX76DmqI2Eo1MwUTAdBgNVHQ4EFgQUapXEuG9W89zm7GUIVCdA
        xzxt8SMwHwYDVR0jBBgwFoAUapXEuG9W89zm7GUIVCdAxzxt8SMwDwYDVR0TAQH/
        BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiBMXI7xGiPSyl+Zgi8rPMqOU/IIru3u
        9PKu3qNkxbmBhgIhAIlcU4R44BH2618OpXiQbkpjoiOGV6Z8JT4dfIyPLrIY
        -----END CERTIFICATE-----

        """

    static let otherApp = """
        -----BEGIN CERTIFICATE-----
        MIIB/zCCAaWgAwIBAgIUIWiv83H9MjPPL+G/GwAXuXH55SQwCgYIKoZIzj0EAwIw
        VDEhMB8GCgmSJomT8ixkAQEMEWNvbS5leGFtcGxlLm90aGVyMS8wLQYDVQQDDCZB
        cHBsZSBQdXNoIFNlcnZpY2VzOiBjb20uZXhhbXBsZS5vdGhlcjAgFw0yNjExMjgw
        NTIxMTlaGA8yMTI2MTEwNDA1MjExOVowVDEhMB8GCgmSJomT8ixkAQEMEWNvbS5l
        eGFtcGxlLm90aGVyMS8wLQYDVQQDDCZBcHBsZSBQdXNoIFNlcnZpY2VzOiBjb20u
        ZXhhbXBsZS5vdGhlcjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABN5Op6dIgKx8
        LGu5Yh14BsKqokwF4maSIRZyhMCK4vWNQts3s1EbSCIUP2gUfnP0M7tuJbkRylJ6
        gNfvoOaojYSjUzBRMB0GA1UdDgQWBBRqlcS4b1bz3ObsZQhUJ0DHPG3xIzAfBgNV
        HSMEGDAWgBRqlcS4b1bz3ObsZQhUJ0DHPG3xIzAPBgNVHRMBAf8EBTADAQH/MAoG
        CCqGSM49BAMCA0gAMEUCIQCvRS5/0ND1YQNKWXjfDOdPFySIKJEbHF3z9WWE5pBS
        rAIgaLcs2KS/k7GrjTGl3Mta3cBQoJKoWmGeHx15vRqytro=
        -----END CERTIFICATE-----

        """

    static let developerKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQglUlUNBlF1be/DpXM
        DxPJUd7eMbIWGrVYoLn/AiLBsJihRANCAATeTqenSICsfCxruWIdeAbCqqJMBeJm
        kiEWcoTAiuL1jULbN7NRG0giFD9oFH5z9DO7biW5EcpSeoDX76DmqI2E
        -----END PRIVATE KEY-----

        """

    /// `developer` and `certificate`, each with its key, in both orders.
    static let pkcs12OfTwo = [
        bytes(
            """
            MIIHtgIBAzCCB2wGCSqGSIb3DQEHAaCCB10EggdZMIIHVTCCBOIGCSqGSIb3DQEHBqCCBNMwggTPAgEAMIIEyAYJKoZIhvcNAQcBMFcG
            CSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjykSTqiMGGpQICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECd2i5b7p4RL
            PVP9PEj7ksSAggRgMu6mXzR+n22d8HRSyL88P/mZ/BGnP6Ovw5wee8YHQy0EVPufBteuHvKoe3Yb1c+ZrI3sTN7s5cLf4TJ40LRDz+oe
            RMRuoRwXoSPakAin6wEqWygtXBpadv3lIsI+faNJ3SP9LvJzSHw9wAxgoIf5HbdlfykKZQWgJikM3/5bdN2xT6Y7YH4P0WkrLfZ8kxAk
            44HgGKq+oQmtF8shi9qDI8xG9Zi0tVMrNEsLw4DaZfkMeqo7P7gv1qArFZm6T3Bonqa3+vxmwIeKFBl2ocNtEYl+BslIpkpDuYojyhDC
            Aj5yqKaVruJc2vfW+urmm3XNPl8V+9v0GOVR3CpJLQrC16IV/+agUPu1O6HaukutGE3220FJX7+N8zTWD+n0NKW8sxAm3IL/1cuofY6Z
            p1xS4ZDc14nL/Wv0Z/krXDsr7v0GRNuQM4lYCadSA5uYoUCCu1OJMgl5W2u5hdf2U85VnFXZRbRVfXr7ZPzqfhzZti2thtNo/HwiwppG
            c4EOe9nFREdOgOoPmyTW75pn3vL/j6a7Pnt+87E4ykglHFa4SkJXlaYfuQWd8+zcYv6s9+8G9+Z89lo1MuvpwKEihnPNhh9OfMg1NPIm
            gMT0wAm4KOnoUypabSIUTtJZNWVILU31RKjT0eiR0huCI0VhSX2VR9fR5o7MbvWCnqE+gRbZOAYF1O6JHYRwhYNz+10vSRU8ZgaEm+0M
            4TAgio+HqmU6wUCE+XCF7wghCtpKskqWhgmnherR9V0op1skdLNQh3Bf1NEB0RSNKZ8aD2i8x573/H8FlkaNwDYmg4c7NmHpnNgDUjOr
            3v3Hfo8eMghxT5CN578XohFTf3v2gRsAUf2d5XA6Ol5YrVc141lVmejyu4xUK+vYnD/oagjNnEWp23vWdptcQpAaGScPlnwBBchEu+Tm
            kNemCgHTlNDb+adhEbsxS7zXoio+tqPn2o7sRGRDwWMNx+2fAlE3sgvFWPERlth0jD8Ebmq9LvokabJo7fKOiF/0tYTPcgGQ7pDTLRk0
            zu7IwdjOd97XIRsp6Ig7pMC+e4eWdzF950rsMWv5Xw2erh94apJVXHFrR6Yhnn6H5HOyS9cIsodQj9kCJpwOjGL1Yj93AnGuZye9rTXf
            P6BcNCP5vD/yRkiC3+loy6yN81/5QWqJAFd6+0KMiQvUCL1gWWpJIuMboAM2KScS6AtvkCZVXF6hoj7u9SoXDru3WaShgZ4UP3lwFyy4
            bdcICgksPZc7UR0WQ9r3FtJxGspiYadFyVNNr7ptejrjdtX/lSGOuRFx6iJSqm4T9eXBYdxfXoAYKZf2jknaj6hPTeha0XsvXpmP/JF7
            dJwl8uc74AruB91RRs3gwYW+W4R4BVrLIDnZ6UDFD/4PZvMdVwojPXHyvYhO/bZDZ7ojFrMZ5DHXDq9bmg4dGwk9yyCvVQ/NovG1cnx+
            qfsuoveMfdQ+UuDicdHjBIbodtpk0gExJt5ga/rFJETNKiKNvy3NpDCCAmsGCSqGSIb3DQEHAaCCAlwEggJYMIICVDCCASYGCyqGSIb3
            DQEMCgECoIHvMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAj2Ayx7zpjtfAICCAAwDAYIKoZIhvcNAgkFADAdBglghkgB
            ZQMEASoEEJQjfv2xe84rSMCcspONEzcEgZD8uV1z03ITpNiJ9D7hv52DOiCAQVjOnxKp0ZC/qLrmfi2ITBxBGQBIWLb51a7oHdzwQK/U
            X6sePhbVQ1GWBU8P9j+BYRYhEvPjqCGZa0usjoMo+LjeBe918T1yu67Bff8n+RS5QCcNSyB5suOC/76WuZQr9epuCGfON3P2y7kpM9fq
            o+M14FIsfDWTWeBply4xJTAjBgkqhkiG9w0BCRUxFgQUb64KR1OFrytLJsFjjgl3Nxs/uxYwggEmBgsqhkiG9w0BDAoBAqCB7zCB7DBX
            BgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIFDbG81SNDLICAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBDATtOCNY7e
            9SYq2ZOfyM4oBIGQkpsucKxtIukWrk3Z8AScrlQw7P8w5xrLQnCmQE2oc9uNxMtKoMc0LrLYUG9iXzxjjOFlYl5et6dBJfVLNVN65DVS
            t1/6X2Gmmncm1f6HAbmgQktsYcMhuoL/t1Xdv5d3b01MaDY18K5xShrZiNfIMT/QKvRv0Zhq7jCCAm6IfNLO7Gu316/igc98M3ddBY/l
            MSUwIwYJKoZIhvcNAQkVMRYEFHyUl3X0Uz6W9MuDW47GBzbmqN+EMEEwMTANBglghkgBZQMEAgEFAAQg3c2Vw9Ix5C/ii8MIkUqxSVRw
            VTyZikX8yjqWw+YUL8wECPJbS0G0u2wdAgIIAA==
            """),
        bytes(
            """
            MIIHtgIBAzCCB2wGCSqGSIb3DQEHAaCCB10EggdZMIIHVTCCBOIGCSqGSIb3DQEHBqCCBNMwggTPAgEAMIIEyAYJKoZIhvcNAQcBMFcG
            CSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhCk2ffcKLy8AICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECWObi/cFva/
            2ZmZn/15CjuAggRgI314ccVuMxTJb17QYM5nUS1j1b3LFSXImSaEiogsIvHamGZdlcmutTt89pt4FQfjPeLzeuxiuukW5A11PtfNy6sV
            oT0RuUYbBrn0Jl8AP/nEtl14jXzyhbtvAlfNgJxqAaVGhZb25oJ1lHhw/GvM1gBw6VbdXbUuGgqMd9+kn+RvfBJxXYdWOSEoYJ1bFjXy
            GkqtEGJKLtqUwoYI5Te9As+rlmlnXHalh+/1oukhIOh/ESowEatBqBbRC/glgGkuD2c8WBGQurDpwUDdNH2iLYuWrwSlNtwmA8u4x4au
            gKyanon/MUQACk/62Cs3xCddjAMJv0NFoisGzcZpHuiA3oQ9p5PLbvYh0SUKgFvptFReVFdJpD/SyQJiw+HpMSDJZb9O7QFTodRkWqOg
            Le0bepg1xyI27KDW3o7RP8skBW73Xhb+CNhd/a1m39VlxtgOfW300TZ9Tw2NAuHKExgazTvVZQukdA58crgOCcP1Z9itVmsRcMFgqTaJ
            aObYHX1fsUCojbXbfH9h4yeOgRIhQ73ll/cbktT1R/1M2mo4mpm2F+iY3Lo6U7mexunOFPfxf9GJDpee3RDBtwugceCqBIr6A2WJQWdZ
            D5fuBYu2rntu7POwhCxGhOJuFbiJ4GVrOmb0sLzuuu3B0B/KOSokDODxarU1xNGWHkvJEp7kAGFLjqyANkX3yRt6QEYeyHJgBnmGf7ge
            1pEy9fgvP64lhRrAa1T8Hgc2ZD4q8AanLbIK4nxCgDG7N8SI1f8+fddUIUAMpchybvrnafUdEyNicamU3Czfl2B6CGxraO3odMVAs+pZ
            MCS8aL8xDGwFPzZtZgng+Gw5XXJa58TjBDZcq9YjjLDUCJWmqn5xZwnQMX4GpwHDoD27khzPlJCzpyVt23A/eKhyjhuBrxh9cTffZezB
            j2eMQV7m63M6TnR+vPC3z65qGyJq1EmClMfVZPaBh3REKNkJaX3yzpBZ5w/4Bc0tLHKuxfbyNysUct0y6g8f3T0f8tNTp0I5Dsit6lq3
            WxF0GIaQVvnpjMa/Th3SDxG40s+c4ouGUy9ZkJIH1/6Y2tynW0qiczREwNaJoRa2aAreRZivYu6IwmKceWJEbkBD9yD1JoaLTgJchlMo
            IFDoPJtkS1/9ua7cjuMhYY7l5S4Ul2VMVwroxz9qMdrlmVtr3gQwmhq6JgjyPS3M2yGh20AGOOOutxfKt/dbLxSn56U8XkfoRv/hMPR/
            CAo43fFuTSgutrpVxucjorIdRJjdBhgz60sJj2ZnVbSlJWmRQO+/8W7NgVbWa6ZDvoJO3IUo5YeVYl43+ZfyaHYSQVrmEc3MSuZDnG5C
            tObd0MbJ+P+TZSsEU8fTfoaaWF5HFZWEgnXeq/z8xS9cK4xlTktqm25f/bfWTRcb3kboWD4J25ejhGWtDxFBTS0nTJXxrFOCV0M8NzS9
            xexASzD5U9jvZ4IkZAr3wFr43byx+eg90RAask35PiF8yKT6M+IDpDCCAmsGCSqGSIb3DQEHAaCCAlwEggJYMIICVDCCASYGCyqGSIb3
            DQEMCgECoIHvMIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAiztZDpUQPIpgICCAAwDAYIKoZIhvcNAgkFADAdBglghkgB
            ZQMEASoEEHbd74fo+hmk36krPmn2dm4EgZD25CNVefVx2kMJNDA8IuPtdwA94E3r80Gza5BazYvgxHY2xrp3ZeYUO2ZP/CVf2OdZqxil
            iq19ZfRQcQkR9kGeuNvt7QfoXf8QlvL6RkAsoiJKnloVayJnkTc7rqLoMQ4eRbYP7J7JDnyD02fQCIDf7Om7wqyKLIeHwKcINCpahAxA
            tebolFWyj2TpiVPVTooxJTAjBgkqhkiG9w0BCRUxFgQUfJSXdfRTPpb0y4NbjsYHNuao34QwggEmBgsqhkiG9w0BDAoBAqCB7zCB7DBX
            BgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQI7KTd0DwsQLgCAggAMAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBDZ7EO8Lout
            DejvdwP3+1FaBIGQ4z6T4AiCgJvBXKlPMs1SQ1nt/7NEbqsRsFVRQOO1ETKFqJDpDSCtHQahbNq1XfbgTWYG8zpnv2Gmuvik83XHMiXW
            RCO2JmtsJAU8pD4Ou+uzBYKUUMm/a6FCof9DD0c/Mx25X277jPXUwIL0LUceowqfxbKrcN470us/B7xq8KLE4TBjUVvBp5o8G3CJEKB5
            MSUwIwYJKoZIhvcNAQkVMRYEFG+uCkdTha8rSybBY44JdzcbP7sWMEEwMTANBglghkgBZQMEAgEFAAQgvjHbflInWriRoqLy45CzkyO6
            ynt/bNQarY84Vklv45MECPy2I7dUEDReAgIIAA==
            """),
    ]

    static func base64(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    static func bytes(_ base64: String) -> [UInt8] {
        let text = base64.replacing("\n", with: "").replacing("+", with: "-").replacing("/", with: "_")
        return Base64URL.decode(text.replacing("=", with: "")) ?? []
    }
}
