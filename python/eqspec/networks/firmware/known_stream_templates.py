"""The definitions of layers that read streams, and of depthwise convolutions; see `known_templates`."""

from __future__ import annotations

STREAM_DIGESTS: dict[str, tuple[str, ...]] = {
    "nnet_activation_stream.h:binary_tanh": (
        "adfe2cafa1bba8ad658f0d10717ed96c",  # 1.2 to 1.3.0
    ),
    "nnet_activation_stream.h:elu": (
        "d1b910181b5100b411a1e279085ee42d",  # 1.0 to 1.3.0
    ),
    "nnet_activation_stream.h:hard_sigmoid": (
        "4bdb5cf3459bb3bbf713ad5a0411e0b0",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:hard_tanh": (
        "55fb3fbc4008ec465345b5c31e392a9f",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:leaky_relu": (
        "3eff6a7c3be7b0161176cc09987bbce6",  # 1.0 to 1.3.0
    ),
    "nnet_activation_stream.h:linear": (
        "ea540895ca4a282e577278ab134a2388",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:prelu": (
        "ababbf0503b731397dfac0cec3c08ebe",  # 1.0 to 1.3.0
    ),
    "nnet_activation_stream.h:relu": (
        "c5314bb1684014dbf21d405adf29b276",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:selu": (
        "aa25edeefb96bc8b547a106f2733a473",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:sigmoid": (
        "78f1c58e34dfe54d92e82801e02661cc",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:softplus": (
        "754b851d56a34c9fc7b15d0cc5aab722",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:softsign": (
        "3132bcd3345f7251744a32f6c785e790",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:tanh": (
        "002f12bbed2c3487d49cda6b02daefe2",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:ternary_tanh": (
        "b669f41ce28f45c58cb603de103f3659",  # 0.8.1 to 1.3.0
    ),
    "nnet_activation_stream.h:thresholded_relu": (
        "8348690b5e909ce381e8409a5e94d416",  # 1.0 to 1.3.0
    ),
    "nnet_activation_stream.h:unary_lut": (
        "f168bda57ce6a03362399182bbda75ec",  # 1.0 to 1.3.0
    ),
    "nnet_batchnorm_stream.h:normalize": (
        "510eab8e246bd9b903b6cf0f337464f5",  # 0.8.1 to 1.3.0
    ),
    "nnet_batchnorm_stream.h:normalize_binary_tanh": (
        "7783c0457d585f757729780f1d40ebef",  # 0.8.1 to 1.3.0
    ),
    "nnet_batchnorm_stream.h:normalize_ternary_tanh": (
        "5ea5995247e4dc96a56c061116b34c5f",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv1d_stream.h:compute_scaled_indices_1d": (
        "6668010a549748051cf5171ed152a3f0",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv1d_stream.h:conv_1d_buffer_cl": (
        "e5e996fc2b28b2594218cf1b2b462faf",  # 1.0 to 1.1
        "a1acc0231423f6df39aefb762dc82020",  # 1.2 to 1.3.0
    ),
    "nnet_conv1d_stream.h:conv_1d_cl": (
        "959d6f6711457754d9b3e7d448423bbe",  # 0.8.1 to 1.3.0
        "f53132ee44fe9bc8dd141303aa1a9341",  # Vitis of 1.0 to 1.1
        "76ce7372558a710641cd45a8cc7b0af5",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_conv1d_stream.h:conv_1d_encoded_cl": (
        "65247079ad26424b225c504df538c14a",  # 0.8.1 to 1.1
        "b1d15fc9e4db5f3cd9f8615caa0d4769",  # 1.2 to 1.3.0
    ),
    "nnet_conv2d_stream.h:compute_scaled_indices_2d": (
        "19b658b937da418fbfc3169f1fe80704",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv2d_stream.h:conv_2d_buffer_cl": (
        "7c58cee36851a200614e1967396194c0",  # 1.0 to 1.1
        "8ae179598e767e7b6ae36acbff0c73aa",  # 1.2 to 1.3.0
    ),
    "nnet_conv2d_stream.h:conv_2d_buffer_latency_cl": (
        "ea048b69adb8c2091b9730add38afef3",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv2d_stream.h:conv_2d_buffer_resource_cl": (
        "1108b2337c742c100891d4efeea94d61",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_conv2d_stream.h:conv_2d_cl": (
        "83c6197b1ada58ffd95c02ae65a72842",  # 0.8.1 to 1.3.0
        "ceff1d4ef65175831bba4ed5b033a350",  # Vitis of 1.0 to 1.1
        "457589ac3ba44ee534fce68ed79d1979",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_conv2d_stream.h:conv_2d_encoded_cl": (
        "37ec89292284d671346ec38fcb4edfd2",  # 0.8.1 to 1.1
        "fed214a2b846cdac4c44adaf39fc0f9f",  # 1.2 to 1.3.0
    ),
    "nnet_conv_stream.h:compute_output_buffer_1d": (
        "084592529344ad9ca72ae7205da37fec",  # 1.0 to 1.3.0
    ),
    "nnet_conv_stream.h:compute_output_buffer_2d": (
        "2db255c20eb9b2ab172a45b80b78b1a5",  # 1.0 to 1.3.0
    ),
    "nnet_conv_stream.h:compute_output_encoded": (
        "6765902e44a61b6aa7b0969dfce8bd27",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv_stream.h:kernel_shift_1d": (
        "8f071c4e78d5e8bb0cc0afdfd8db45f1",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv_stream.h:kernel_shift_2d": (
        "81abc6b15daba81812c2267c43508efd",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv_stream.h:mult_buffer": (
        "df3af5a518b5bdd67d9dddcafd10f80d",  # 1.0 to 1.3.0
    ),
    "nnet_conv_stream.h:scale_index_K_gte_S": (
        "58dbec97c957a8942e27382ded7041cc",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv_stream.h:scale_index_K_lt_S": (
        "25680a9fc5b1f5dc1871ae9935ed2535",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv_stream.h:scale_index_regular": (
        "8ef65fa850b43ada991ce44527aeb490",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv_stream.h:scale_index_unscaled": (
        "3f30e450e1185f82daa16e855100ea38",  # 0.8.1 to 1.3.0
    ),
    "nnet_conv_stream.h:shift_line_buffer": (
        "3457a8838367e5fd973d2f7061fe320e",  # 0.8.1 to 1.3.0
    ),
    "nnet_cropping_stream.h:cropping1d_cl": (
        "fb4f6cb06a731b637dd7db286af3c0b1",  # 1.2 to 1.3.0
    ),
    "nnet_cropping_stream.h:cropping2d_cl": (
        "f76e817df8a38be367eeb49c50aa5975",  # 1.2 to 1.3.0
    ),
    "nnet_dense_stream.h:data_prepare": (
        "be9c0d8f64b3dcc1aad6bacf305bb540",  # Vitis of 0.8.1 to 1.3.0
    ),
    "nnet_dense_stream.h:dense": (
        "1176788c804c7b91596163ea01c389a2",  # 0.8.1 to 1.3.0
        "8c316302fce17e959bd150353e79e0fc",  # Vitis of 0.8.1 to 1.1.0
        "dcdbfee3e240659739e5f80e52d8fd86",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_dense_stream.h:dense_latency_wrapper": (
        "57466d05caf0f784d9002e8437bb066f",  # Vitis of 0.8.1 to 1.3.0
    ),
    "nnet_dense_stream.h:dense_resource_wrapper": (
        "e5fa9d7a035c98f6f8c7369f0346521b",  # Vitis of 0.8.1 to 1.3.0
    ),
    "nnet_dense_stream.h:dense_wrapper": (
        "721c58f7bbfbc435c925fd1c81dd6f0d",  # 0.8.1
        "b9268661a8a1817ee8dacf8b9d3c7a2b",  # 1.0 to 1.1.0
        "ff45e28b2c9b2c3cbb3d9344a9998518",  # 1.2 to 1.3.0
    ),
    "nnet_dense_stream.h:res_write": (
        "dcbef148c9b4c7e711f7adeca12b2a30",  # Vitis of 0.8.1 to 1.3.0
    ),
    "nnet_depthwise_product.h:DepthwiseDenseLatency": (
        "536a62de35059bc735e4aa0ed89528be",  # 1.1 to 1.3.0
    ),
    "nnet_depthwise_product.h:DepthwiseDenseResource_rf_gt_nout": (
        "95a6f6519924ba555f3dc45e0b7fb602",  # 1.1 to 1.3.0
    ),
    "nnet_depthwise_product.h:DepthwiseDenseResource_rf_gt_nout_rem0": (
        "f44d2c51ca070b823e1cc2c68a6cc387",  # 1.1 to 1.3.0
    ),
    "nnet_depthwise_product.h:DepthwiseDenseResource_rf_leq_nout": (
        "d79cb1c0b968f5b891c823b0089946a2",  # 1.1 to 1.3.0
    ),
    "nnet_depthwise_product.h:depthwise_product_latency": (
        "5acfecf1a8b0c2de3e8f826fd422ca98",  # 1.1 to 1.3.0
    ),
    "nnet_depthwise_product.h:depthwise_product_resource_gt_nout": (
        "787465a72e6b9c1bb6c920f2f1a6252d",  # 1.1 to 1.3.0
    ),
    "nnet_depthwise_product.h:depthwise_product_resource_rf_gt_nout_rem0": (
        "5ad939cb69efeddca9987f7e94b96c9b",  # 1.1 to 1.3.0
    ),
    "nnet_depthwise_product.h:depthwise_product_resource_rf_leq_nout": (
        "af779d8858348024c64d962e4a32696d",  # 1.1 to 1.3.0
    ),
    "nnet_image_stream.h:resize_nearest": (
        "76af86046a576d26a470506e0aed2b50",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:add": (
        "6cf5ee59142be595341cdaa1d9234dbf",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:average": (
        "74b018a8df4d08a5de789782a59866f6",  # 1.2 to 1.3.0
    ),
    "nnet_merge_stream.h:concatenate1d": (
        "ffdb00cfb100eba27bbaca1bd2f87a59",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:concatenate2d": (
        "0dbc2402422eba6f1bf999728e80e517",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:concatenate2d_0": (
        "d382f6bfdd72ed069e8f7fb90a927b60",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:concatenate2d_1": (
        "e0b719e0ef8b57559c7853ed128cf155",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:concatenate3d": (
        "3c65de19f6542e8c69c01394d8d25ab7",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:concatenate3d_0": (
        "ffa3e59432cfa7cee3255c868a93dcab",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:concatenate3d_1": (
        "0d50fe4f01da431c69da2df76e610d3a",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:concatenate3d_2": (
        "c7a7e66d5a2b7300f78caf167a9b4c73",  # 0.8.1 to 1.3.0
    ),
    "nnet_merge_stream.h:maximum": (
        "7349fd3c84c5b75cf2549ccfbe39c608",  # 1.2 to 1.3.0
    ),
    "nnet_merge_stream.h:minimum": (
        "6aa0ee28b5b69d1371cdbe61abf3d326",  # 1.2 to 1.3.0
    ),
    "nnet_merge_stream.h:multiply": (
        "a0697f25aa105b5d31740498cda073ee",  # 1.0 to 1.3.0
    ),
    "nnet_merge_stream.h:subtract": (
        "19a2983852e3280fbd263465ce7ef936",  # 0.8.1 to 1.3.0
    ),
    "nnet_padding_stream.h:fill_data": (
        "c8361efbba1cc26e57b96d34b6db90fc",  # 0.8.1 to 1.3.0
    ),
    "nnet_padding_stream.h:fill_zero": (
        "62899bebf4befe762d0a82bcc984238f",  # 0.8.1 to 1.3.0
    ),
    "nnet_padding_stream.h:zeropad1d_cl": (
        "5a8d23e6096f78d8403e86bea7acbe92",  # 0.8.1 to 1.3.0
    ),
    "nnet_padding_stream.h:zeropad2d_cl": (
        "b70b940d4bbef5a27cb21ca5dd219041",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling_stream.h:compute_global_pool": (
        "d69af81e2ca2ab3692fabf8c7d63adbc",  # 0.8.1 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling_stream.h:compute_pool_buffer_1d": (
        "f68ac7d057822bf1f02e32b45aa2ed8a",  # 0.8.1 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling_stream.h:compute_pool_buffer_2d": (
        "994f1c96707ee81f6fd761fd52f41641",  # 0.8.1 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling_stream.h:compute_pool_encoded_1d": (
        "2eeca4519a2fa75cff189ad6a3c74b3f",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling_stream.h:compute_pool_encoded_2d": (
        "e19b01faf3441cd9fe756e88806a9c8a",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling_stream.h:global_pooling1d_cl": (
        "c047717991c7aa3486c583813050ca32",  # 0.8.1 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling_stream.h:global_pooling2d_cl": (
        "4cebee78e8e0cd02bbc5dee9ca49eeb4",  # 0.8.1 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling_stream.h:init_pool_table": (
        "a4100496464fc6c8294845f493378600",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling_stream.h:pooling1d_buffer_cl": (
        "5902652ab7510abae53de7b027029691",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling_stream.h:pooling1d_cl": (
        "de1b42d50104449ea9b4fb81f54405d2",  # 0.8.1 to 1.3.0
        "8c2ca4b58dbcff0a698d499c64dab184",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling_stream.h:pooling1d_encoded_cl": (
        "92256d3ced43e3d27d16b5714937a109",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling_stream.h:pooling2d_buffer_cl": (
        "49a89f0b48b96e5a5b5afaae0029cf52",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling_stream.h:pooling2d_cl": (
        "4f88270ff043485d628b748fe3bad7fb",  # 0.8.1 to 1.3.0
        "c91a45325cd6399dac64dcc77d72fff2",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling_stream.h:pooling2d_encoded_cl": (
        "e2e1a46632ace59d8555977e7ad20030",  # 0.8.1 to 1.3.0
    ),
    "nnet_pooling_stream.h:reduce_global_pool": (
        "4d9f6180de8a9ae6f32779b5f364231c",  # 0.8.1 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_pooling_stream.h:reduce_pool": (
        "b3b9492b846a57857d80ee4eb2dfb04f",  # 0.8.1 to 1.3.0, Vitis of 1.0 to 1.3.0
    ),
    "nnet_sepconv1d.h:depthwise_conv_1d_cl": (
        "c9f23f00fd80a3cc35f306a298e1aa93",  # 1.0 to 1.1
        "428ffa772ed1ed4862f5ea191249343f",  # 1.2 to 1.3.0
    ),
    "nnet_sepconv1d_latency.h:depthwise_conv_1d_latency_cl": (
        "267e2bf66c712fb73de4ca79fd2aed53",  # 1.0 to 1.3.0
    ),
    "nnet_sepconv1d_stream.h:depthwise_conv_1d_buffer_cl": (
        "e0f02bce9106017a9332b50cf824a905",  # 0.8.1 to 1.1
        "f5d369abda13845478bd5c40dc3710e0",  # 1.2 to 1.3.0
        "ec7f190a66b9217087b7e36615ea22c6",  # Vitis of 1.0 to 1.1
        "bc69fcfa217bc2c9ad5ab7531eb6ca3d",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_sepconv1d_stream.h:depthwise_conv_1d_cl": (
        "e35c2bfc77b12ba1b1ddbaaadf98c6b2",  # 1.0 to 1.3.0
        "c2aba5882da45120d76aab8149c16809",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_sepconv1d_stream.h:depthwise_conv_1d_encoded_cl": (
        "66312ac515bd3b1e5cd73f1f1f2c24c0",  # 0.8.1 to 1.1
        "bde63b6b9bf5c0afe1c012ba72d78cc0",  # 1.2 to 1.3.0
    ),
    "nnet_sepconv1d_stream.h:pointwise_conv_1d_cl": (
        "edafdd0b880fb9c7594eebc0b217d7f6",  # 0.8.1 to 1.1
        "6a9408a8418b12e4caa1a90963c424a2",  # 1.2 to 1.3.0
        "9b51ec6615a468b5aaf2019fdd33233c",  # Vitis of 1.0 to 1.1
        "357411741a25792b520e58930e16b95f",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_sepconv2d.h:depthwise_conv_2d_cl": (
        "b8b4520ead473de319758312e3844973",  # 1.0 to 1.1
        "fd393e9eca17f03d1d0ee4db2f585f4d",  # 1.2 to 1.3.0
    ),
    "nnet_sepconv2d_latency.h:depthwise_conv_2d_latency_cl": (
        "e10320aba68b4a7243b9a964bd919195",  # 1.0 to 1.3.0
    ),
    "nnet_sepconv2d_stream.h:depthwise_conv_2d_buffer_cl": (
        "d699e3a937c60f5eaa857531f2cf533b",  # 0.8.1 to 1.1
        "d64a68e0c783af78f136ad9465cbd39f",  # 1.2 to 1.3.0
        "8272aed716d90be3d395f735bc112274",  # Vitis of 1.0 to 1.1
        "7519b9eccb25910f87d976c3472a8ac6",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_sepconv2d_stream.h:depthwise_conv_2d_cl": (
        "96f9a969ecf696effd8564491bff8af1",  # 1.0 to 1.3.0
        "5472943ef56a8286d266afa3a29a9264",  # Vitis of 1.0 to 1.3.0
    ),
    "nnet_sepconv2d_stream.h:depthwise_conv_2d_encoded_cl": (
        "b4c95cc4ec555d042835830dfd3e6956",  # 0.8.1 to 1.1
        "415625ba5d5b9c3a2b282eb28d524070",  # 1.2 to 1.3.0
    ),
    "nnet_sepconv2d_stream.h:pointwise_conv_2d_cl": (
        "8e996f09ddbd04bc4ad67e88318329ae",  # 0.8.1 to 1.1
        "2fc2ee11deea1c8b6870ee8e3804a6a3",  # 1.2 to 1.3.0
        "14bbeadb61a555543cde695208f3709a",  # Vitis of 1.0 to 1.1
        "ef9aeffc6e94346167bef7a46cc3dd90",  # Vitis of 1.2 to 1.3.0
    ),
    "nnet_sepconv_stream.h:compute_depthwise_output_buffer_1d": (
        "2c0fc28df475ebbd15d27d8cb816b93d",  # 1.1 to 1.3.0
    ),
    "nnet_sepconv_stream.h:compute_depthwise_output_buffer_2d": (
        "9a7533caa91dcb3fd607584546c07fab",  # 1.1 to 1.3.0
    ),
    "nnet_sepconv_stream.h:compute_depthwise_output_encoded": (
        "996949f2272f38e295de411ba9ea9c8c",  # 0.8.1 to 1.3.0
    ),
    "nnet_sepconv_stream.h:depthwise_mult_buffer": (
        "1e387d036ac36f530e723afec217821e",  # 1.1 to 1.3.0
    ),
    "nnet_sepconv_stream.h:pointwise_mult_buffer": (
        "4b884fa6185bdf106533c6b0087c085f",  # 1.1 to 1.3.0
    ),
    "nnet_stream.h:clone_stream": (
        "31db5772f8e8681325552d4ff9bf82b3",  # 1.2 to 1.3.0
    ),
    "nnet_stream.h:repack_stream": (
        "3d64ca7738800a13811166fab480ab52",  # 0.8.1 to 1.3.0
    ),
    "nnet_transpose_stream.h:transpose": (
        "2d6d01d73109983a84940779c137de68",  # 1.1 to 1.3.0
    ),
}
